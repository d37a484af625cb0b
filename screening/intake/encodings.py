"""Which encoding bytes are in, decided by the bytes alone; what cannot be decided is refused, never guessed.

UTF-8 first, strictly. Otherwise every reading that decodes strictly is weighed by how common its characters are
(:mod:`screening.intake.characters`): the best one counts only if it reads like text throughout and every other
reading is far less likely.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass, replace

from screening.documents import Problem
from screening.intake.characters import BITS

NAMES: dict[str, str] = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-32-le": "UTF-32LE",
    "gb18030": "GB18030",
    "cp950": "Big5",
    "big5hkscs": "Big5-HKSCS",
    "euc_kr": "EUC-KR",
    "shift_jis": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "cp1252": "Windows-1252",
    "cp1251": "Windows-1251",
    "iso2022_jp": "ISO-2022-JP",
    "hz": "HZ",
    "utf-7": "UTF-7",
}
"""The encodings that are weighed, with the names that people know."""

CHOICES: dict[str, str] = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "gb18030": "gb18030",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "cp950",
    "cp950": "cp950",
    "big5hkscs": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "utf-16-le": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "utf-16be": "utf-16-be",
}
"""What a person may choose where two readings are plausible: name → codec."""

PREVIEW = 160
"""Characters of each reading that a person is shown to choose by."""

_FOREIGN = ("euc_kr", "shift_jis", "euc_jp", "cp1252", "cp1251")
_LEGACY = ("gb18030", "cp950", "big5hkscs", *_FOREIGN)

# Without a byte order mark UTF-16 is a rare find, and so is a text in no Chinese encoding.
_PRIOR_BITS = {"utf-16-le": 8.0, "utf-16-be": 8.0, **dict.fromkeys(_FOREIGN, 4.0)}

SAMPLE_BYTES = 200_000
MARGIN_BITS = 12.0
"""A reading must be this much likelier than every other one: 4096 to 1."""
PLAUSIBLE_BITS = 13.0
"""Bits of surprise a character that running text stays below on average; mojibake lies near 18."""
PLAUSIBLE_SHORT_BITS = 11.5
"""The same for texts of fewer than eight characters, where one lucky character would tip the mean."""
WINDOW = 48
WINDOW_BITS = 16.0
_PUNCTUATION = frozenset(
    "，。、；：？！“”‘’（）《》〈〉【】〔〕—…·「」『』０１２３４５６７８９％　①②③④⑤"
)
_RARE = 19.0


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the codec that read it, and what a person should know about it."""

    text: str
    encoding: str
    warnings: tuple[Problem, ...] = ()


def decode(data: bytes, *, encoding: str | None = None) -> Decoded | Problem:
    """The text of ``data`` without its byte order mark, or why it has none.

    ``encoding`` names a codec that a person has chosen; it is still applied strictly. A problem carries the byte
    position of the first byte that does not fit (counted from 0).
    """
    if encoding is not None:
        return _strict(data, encoding, 0)
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return _strict(data[len(mark) :], codec, len(mark))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _without_mark(data, error)
    if text.isascii() and (old_rule := _seven_bit(data[:SAMPLE_BYTES])):
        return _unsupported(old_rule)
    if "\0" in text and _zeros_alternate(data):
        return _weigh(data, ("utf-16-le", "utf-16-be"))
    if text and len(data) < 400 and (_CONTROL.search(text) or "\x7f" < max(text) < "\u0800"):
        return _short_utf8(data, text)
    return Decoded(text, "utf-8")


def decode_or_chosen(data: bytes, chosen: str | None) -> Decoded | Problem:
    """As :func:`decode`; where two readings are plausible, the one that a person has chosen, named in a warning."""
    found = decode(data)
    if chosen is None or isinstance(found, Decoded) or found.code != "encoding_unclear":
        return found
    codec = CHOICES.get(chosen.strip().casefold(), "")
    read = _strict(data, codec, 0) if codec else _unknown(chosen)
    if isinstance(read, Problem):
        return read
    said = Problem(
        "encoding_chosen",
        "Read as %(encoding)s, as a person chose between two readings",
        {"encoding": NAMES[codec]},
    )
    return replace(read, warnings=(said,))


def _unknown(name: str) -> Problem:
    return Problem("encoding_unknown", "No encoding is called %(encoding)s", {"encoding": name})


def surprise(text: str) -> float:
    """How unlikely ``text`` is as Chinese or plain Latin text, in bits; the sum over its characters."""
    return sum(map(_bits, text))


def _strict(data: bytes, codec: str, skipped: int) -> Decoded | Problem:
    try:
        return Decoded(data.decode(codec), codec)
    except LookupError:
        return _unknown(codec)
    except UnicodeDecodeError as error:
        return _broken(codec, skipped + error.start)


def _broken(codec: str, position: int) -> Problem:
    return Problem(
        "encoding_broken",
        "The text is %(encoding)s up to byte %(position)s, but not from there on; it is damaged or mixes encodings",
        {"encoding": NAMES.get(codec, codec), "position": position},
    )


_UTF8_HAN_RUN = re.compile(rb"(?:[\xe4-\xe9][\x80-\xbf]{2}|\xe3\x80[\x81\x82]|\xef\xbc\x8c){3,}")


def _without_mark(data: bytes, error: UnicodeDecodeError) -> Decoded | Problem:
    """Bytes that are not UTF-8: mixed, or in another encoding."""
    before = data[: error.start].decode("utf-8", "ignore")
    if sum(1 for character in before[-2000:] if character in BITS) >= 2:
        return _broken("utf-8", error.start)
    if run := _utf8_run(data):
        return Problem(
            "encoding_mixed",
            "Bytes %(start)s to %(end)s are UTF-8 and the rest is not; the text mixes encodings",
            {"start": run.start(), "end": run.end()},
        )
    codecs_to_weigh: tuple[str, ...] = _LEGACY
    if len(data) % 2 == 0 and (b"\0" in data or len(data) < 400):
        codecs_to_weigh = ("utf-16-le", "utf-16-be", *_LEGACY)
    return _weigh(data, codecs_to_weigh, error.start)


def _utf8_run(data: bytes) -> re.Match[bytes] | None:
    """A stretch of UTF-8 among other bytes: three Chinese characters in a row do not arise by chance."""
    for run in _UTF8_HAN_RUN.finditer(data):
        text = run.group().decode("utf-8", "ignore")
        if surprise(text) < 14 * len(text):
            return run
    return None


def _zeros_alternate(data: bytes) -> bool:
    """Whether nearly every second byte is zero: Latin text in UTF-16 without a byte order mark."""
    half = len(data) // 2
    if len(data) % 2 or not half:
        return False
    return max(data[0::2].count(0), data[1::2].count(0)) > 0.4 * half and (
        min(data[0::2].count(0), data[1::2].count(0)) < 0.05 * half
    )


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LATIN_LETTER = re.compile(r"[A-Za-z]")


def _short_utf8(data: bytes, text: str) -> Decoded | Problem:
    """Valid UTF-8 that a few Chinese characters in another encoding can be by accident: no three-byte characters, or
    control characters."""
    readings = _readings(data, ("gb18030", "cp950", "utf-16-le", "utf-16-be"))
    latin_is_fine = "\0" in text or _mixes_scripts(text)
    readings = [
        r for r in readings if r[2] != text and (latin_is_fine or not _LATIN_LETTER.search(r[2]))
    ]
    if readings and readings[0][0] < PLAUSIBLE_SHORT_BITS * len(readings[0][2]):
        return _unclear([(0.0, "utf-8", text), readings[0]])
    return Decoded(text, "utf-8")


def _mixes_scripts(text: str) -> bool:
    """Whether a text begins with an accent without a letter, or has letters of several scripts beside Latin: no language does."""
    if unicodedata.combining(text[0]):
        return True
    found = {unicodedata.name(c, "?").partition(" ")[0] for c in text if "\u0250" <= c < "\u0800"}
    return len(found - {"COMBINING", "MODIFIER"}) > 1


_SEVEN_BIT = (
    ("iso2022_jp", re.compile(rb"\x1b\$[@B]|\x1b\([IJ]")),
    ("hz", re.compile(rb"~\{(?:[!-w][!-~])+~\}")),
    ("utf-7", re.compile(rb"\+[A-Za-z0-9+/]{5,}-?")),
)


def _seven_bit(data: bytes) -> str | None:
    """The codec of text that is written in plain ASCII by an old rule of mail programs, if it is."""
    for codec, mark in _SEVEN_BIT:
        if not mark.search(data):
            continue
        if codec == "iso2022_jp":
            return codec  # nothing else has its escapes
        text = data.decode(codec, "ignore")
        written = [c for c in text if c > "\x7f"]
        if len(written) >= 2 and _mean(written) < PLAUSIBLE_BITS:
            return codec
    return None


def _mean(characters: list[str]) -> float:
    return surprise("".join(characters)) / len(characters)


def _readings(data: bytes, codecs_to_weigh: tuple[str, ...]) -> list[tuple[float, str, str]]:
    """(bits of surprise, codec, text) of every strict reading, the likeliest first; one entry per different text."""
    found: dict[str, tuple[float, str, str]] = {}
    for codec in codecs_to_weigh:
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if codec == "big5hkscs" and any(other == "cp950" for _, other, _ in found.values()):
            continue  # one family: they differ in the width of a few signs, and cp950 is the common one
        if text not in found:
            weight = surprise(text[: SAMPLE_BYTES // 2]) + _PRIOR_BITS.get(codec, 0.0)
            found[text] = (weight, codec, text)
    return sorted(found.values(), key=lambda reading: reading[:2])


def _weigh(data: bytes, codecs_to_weigh: tuple[str, ...], bad_utf8: int = 0) -> Decoded | Problem:
    readings = _readings(data, codecs_to_weigh)
    plausible = [reading for reading in readings if _reads_like_text(reading)]
    if not plausible:
        return _nothing_fits(readings, bad_utf8)
    best = plausible[0]
    rivals = [r for r in readings if r is not best and r[0] < best[0] + MARGIN_BITS]
    if rivals:
        return _unclear([best, rivals[0]])
    _, codec, text = best
    if codec in _FOREIGN:
        return _unsupported(codec)
    if (odd := _odd_window(text)) is not None:
        return _broken(codec, len(text[:odd].encode(codec)))
    return Decoded(text, codec, (_guessed(codec),))


def _unsupported(codec: str) -> Problem:
    return Problem(
        "encoding_unsupported",
        "The text seems to be %(encoding)s, which is not supported; save it as UTF-8",
        {"encoding": NAMES[codec]},
    )


def _guessed(codec: str) -> Problem:
    return Problem(
        "encoding_guessed",
        "Read as %(encoding)s, judged by its content",
        {"encoding": NAMES[codec]},
    )


def _reads_like_text(reading: tuple[float, str, str]) -> bool:
    weight, _, text = reading
    if not text:
        return False
    sample = text[: SAMPLE_BYTES // 2]
    written = sum(1 for character in sample if not character.isspace())
    limit = PLAUSIBLE_SHORT_BITS if written < 8 else PLAUSIBLE_BITS
    return weight / len(sample) < limit


def _nothing_fits(readings: list[tuple[float, str, str]], bad_utf8: int) -> Problem:
    if len(readings) >= 2:
        return _unclear(readings[:2])
    if readings:
        return Problem(
            "encoding_unclear",
            "The encoding is unclear: it is not UTF-8 (byte %(position)s), and as %(encoding)s it does not read like text",
            {
                "position": bad_utf8,
                "encoding": NAMES[readings[0][1]],
                "readings": _offered(readings),
            },
        )
    return Problem(
        "encoding_unknown_bytes",
        "The encoding is not recognised: byte %(position)s does not fit UTF-8, nor do the bytes fit GB18030 or Big5",
        {"position": bad_utf8},
    )


def _unclear(readings: list[tuple[float, str, str]]) -> Problem:
    (_, first, first_text), (_, second, second_text) = readings
    return Problem(
        "encoding_unclear",
        "The encoding is unclear: as %(first)s it reads “%(first_text)s”, as %(second)s “%(second_text)s”; save it as UTF-8",
        {
            "first": NAMES[first],
            "first_text": _shown(first_text),
            "second": NAMES[second],
            "second_text": _shown(second_text),
            "readings": _offered(readings),
        },
    )


def _offered(readings: list[tuple[float, str, str]]) -> list[list[str]]:
    """(codec, name, beginning of the text) of each reading that may be chosen."""
    return [
        [
            codec,
            NAMES[codec],
            "".join(c if c.isprintable() or c == "\n" else "?" for c in text[:PREVIEW]),
        ]
        for _, codec, text in readings
        if codec in CHOICES
    ]


def _shown(text: str) -> str:
    """The beginning of a reading, fit for a message."""
    return "".join(character if character.isprintable() else "?" for character in text[:12])


def _odd_window(text: str) -> int | None:
    """Where a stretch begins that does not read like the rest, as happens after one lost byte; else None."""
    for start in range(0, len(text) - WINDOW // 2, WINDOW):
        window = text[start : start + WINDOW]
        if surprise(window) > WINDOW_BITS * len(window):
            return start
    return None


def _bits(character: str) -> float:
    known = BITS.get(character)
    if known is not None:
        return known
    if character in _PUNCTUATION:
        return 7.0
    return _other_bits(ord(character))


def _other_bits(code: int) -> float:
    """Bits for what is neither a known Chinese character nor Chinese punctuation, by block."""
    if code < 0x80:
        return 6.5 if code >= 0x20 or code in (9, 10, 13) else 24.0
    if code < 0xA0 or 0xD800 <= code < 0xF900:
        return 28.0
    if code < 0x250:
        return 13.0
    if 0x3040 <= code < 0x3100 or 0x370 <= code < 0x530:
        return 13.0
    if 0xAC00 <= code < 0xD7B0:
        return 15.0
    if 0x3400 <= code < 0xA000 or 0x20000 <= code < 0x32000:
        return _RARE
    if 0xFF00 <= code < 0xFF5F or 0x2000 <= code < 0x2600 or 0x3000 <= code < 0x3040:
        return 12.0
    return 22.0
