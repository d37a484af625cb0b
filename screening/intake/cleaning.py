"""What is taken out of a text before it is stored, and which texts are no texts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from screening.documents import Problem
from screening.intake.encodings import surprise

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
# Kept: \t, \n, \r and NEL (U+0085), which end cells and lines.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_PAGE_BREAK = re.compile("[\x0b\x0c]")
_VISIBLE = re.compile("[^\\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_COMPARABLE = re.compile(r"[^\W_]")

EMPTY = Problem("empty", "There is no text in it")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text fit to be stored, and what was done to it."""

    text: str
    warnings: tuple[Problem, ...] = ()


def clean(text: str) -> Cleaned | Problem:
    """Take out what no database or page can hold; refuse what is empty or garbled.

    Line ends, tabs and every visible or format character stay as they are.
    """
    warnings: list[Problem] = []
    text = text.removeprefix("\ufeff")
    if _SURROGATE.search(text):
        text, count = _SURROGATE.subn("\ufffd", text)
        warnings.append(
            Problem(
                "lone_surrogates",
                "%(count)s broken characters were replaced by U+FFFD",
                {"count": count},
            )
        )
    elif "\ufffd" in text:
        warnings.append(
            Problem(
                "replacement_characters",
                "The text already holds %(count)s replacement characters (U+FFFD): something was lost before it came here",
                {"count": text.count("\ufffd")},
            )
        )
    if problem := garbled(text):  # before the control characters go, which are half of it
        return problem
    if _CONTROL.search(text):
        text, count = _without_controls(text)
        warnings.append(
            Problem(
                "control_characters",
                "%(count)s control characters were taken out",
                {"count": count},
            )
        )
    if not _VISIBLE.search(text):
        return EMPTY
    if not _COMPARABLE.search(text):
        warnings.append(
            Problem("nothing_to_compare", "Only punctuation: no text that can be compared")
        )
    return Cleaned(text, tuple(warnings))


def _without_controls(text: str) -> tuple[str, int]:
    """``text`` without control characters and terminal colours; page breaks become line breaks."""
    count = len(_CONTROL.findall(text))
    text = _PAGE_BREAK.sub("\n", _ESCAPE.sub("", text))
    return _CONTROL.sub("", text), count


def one_line(text: str) -> str:
    """A field of metadata: surrounding blanks, control characters and lone surrogates taken out."""
    if not text.isprintable():
        text = _CONTROL.sub("", _SURROGATE.sub("\ufffd", text))
        text = re.sub(r"[\r\n\t\u0085\u2028\u2029]+", " ", text)
    return text.strip().strip("\ufeff").strip()


# --- Text that was spoilt before it came here -----------------------------------------------------------------------

# UTF-8 read as Latin-1 or Windows-1252: the lead bytes of Chinese text and what follows them.
_AS_LATIN = re.compile("[\u00e3-\u00e9][\u0080-\u00bf\u0152-\u2122]{2}")
# UTF-8 read as GBK: the characters whose GBK bytes are a UTF-8 lead byte and a continuation byte.
_AS_GBK = re.compile(
    "["
    + "".join(
        character
        for lead in range(0xE4, 0xEA)
        for trail in range(0x80, 0xC0)
        if (character := bytes((lead, trail)).decode("gb18030", "ignore")) and character >= "\u4e00"
    )
    + "]"
)
_SAMPLE = 600


def garbled(text: str) -> Problem | None:
    """Why ``text`` is mojibake, if it is: read once in the wrong encoding and saved again. It is never repaired here."""
    sample = text[:_SAMPLE]
    if sample.isascii():
        return None
    latin = len(_AS_LATIN.findall(sample))
    if latin >= 3 and latin * 3 > 0.3 * sum(1 for character in sample if character > "\x7f"):
        return _garbled("Latin-1", sample)
    odd = len(_AS_GBK.findall(sample))
    if odd >= 4 and odd > 0.2 * len(sample):
        repaired = sample.encode("gb18030", "ignore").decode("utf-8", "ignore")
        if len(repaired) > 0.4 * len(sample) and surprise(repaired) / len(repaired) < 12:
            return _garbled("GBK", sample)
    return None


def _garbled(wrong: str, sample: str) -> Problem:
    shown = "".join(character for character in sample[:20] if character.isprintable())
    return Problem(
        "garbled",
        "Suspected mojibake (疑似乱码): UTF-8 that was once read as %(wrong)s and saved so: “%(sample)s”; fetch the original again",
        {"wrong": wrong, "sample": shown},
    )
