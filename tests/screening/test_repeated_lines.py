"""Repeated lines against a dictionary of counts, and the pairs that rarer lines make."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

from screening.channels import lines, split
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.text.corpus import Corpus, pack
from screening.text.normalise import normalise
from tests.screening.making import document, prose

CONFIG = ScreeningConfig()


def corpus_of(documents: list[InputDocument]) -> Corpus:
    return pack(
        documents,
        lambda d: CONFIG.normalise_options,
        folding=True,
        threads=1,
        tick=lambda a, b: None,
    )


def found(documents: list[InputDocument], times: int = 6, least: int = 24, cap: int = 200):  # type: ignore[no-untyped-def]
    return lines.find(corpus_of(documents), times=times, least=least, cap=cap)


def pairs_of(result: lines.LinesFound) -> list[tuple[int, int]]:
    low, high = split(result.hits.pairs)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def test_counts_are_those_of_a_dictionary() -> None:
    rng = random.Random(4)
    stock = [prose(n, rng.randrange(2, 30)) for n in range(60)]
    documents = []
    for n in range(80):
        chosen = [rng.choice(stock[: 10 + n % 50]) for _ in range(rng.randrange(12))]
        marked = [
            rng.choice(["", " ", "——", "★"]) + line + rng.choice(["", "。", "　"]) for line in chosen
        ]
        body = rng.choice(["\n", "\r\n", "\n\n", "\u2029"]).join(marked)
        source = rng.choice([None, "甲站", "乙站"])
        documents.append(document(f"d{n:03d}", body, source_id=source))
    expected: Counter[tuple[str, str]] = Counter()
    holders: dict[tuple[str, str], set[str]] = {}
    for each in documents:
        for line in each.raw.replace("\u2029", "\n").splitlines():
            text = normalise(line).text
            if text:
                key = (each.source_id or "", text)
                expected[key] += 1
                holders.setdefault(key, set()).add(each.doc_id)
    result = found(documents)
    told = {(r.source, r.text): (r.times, r.documents, r.characters) for r in result.repeated}
    many = {key: n for key, n in expected.items() if n > 6}
    assert len(many) > 15
    assert told == {key: (n, len(holders[key]), len(key[1])) for key, n in many.items()}
    assert result.hits.counts["lines"] == expected.total()
    assert result.hits.counts["repeated_lines"] == len(many)
    repeated = sum(n * len(key[1]) for key, n in many.items())
    whole = sum(n * len(key[1]) for key, n in expected.items())
    assert result.hits.counts["repeated_characters"] == repeated
    assert result.share == repeated / whole
    assert [r.times for r in result.repeated] == sorted(many.values(), reverse=True)


def test_the_hash_is_the_head_of_sha1() -> None:
    line = "本站所有内容均可转载"
    head = hashlib.sha1(line.encode()).digest()[:8]
    assert lines.line_hash(line) == int.from_bytes(head, "big")
    result = found([document("a", f"{line}。\n第二行")])
    assert result.lines.hashes.tolist()[0] == lines.line_hash(line)


def test_six_times_is_not_repeated_and_seven_times_is() -> None:
    line = "转载请注明出处并保留全文链接"
    for count, repeated in ((6, 0), (7, 1)):
        result = found([document(f"d{n}", prose(n, 40) + "\n" + line) for n in range(count)])
        assert result.hits.counts["repeated_lines"] == repeated
        assert result.marked.sum() == (count if repeated else 0)


def test_sources_are_counted_apart() -> None:
    line = "转载请注明出处并保留全文链接"
    documents = [
        document(f"d{n:02d}", prose(n, 40) + "\n" + line, source_id="甲" if n % 2 else "乙")
        for n in range(12)
    ]
    assert found(documents).repeated == ()
    documents.append(document("d99", line, source_id="乙"))
    told = found(documents).repeated
    assert [(r.source, r.times, r.documents) for r in told] == [("乙", 7, 7)]


def test_rare_lines_make_a_pair_and_repeated_ones_do_not() -> None:
    footer = "联系地址河边路十二号联系电话请见主页办公时间每周一至周五"
    shared = "本次清淤工程分为三段施工先行完成上游段后再开展其余两段"
    documents = [document(f"d{n}", f"{prose(n, 50)}\n{footer}") for n in range(8)]
    documents[2] = document("d2", f"{shared}\n{prose(2, 50)}\n{footer}")
    documents[5] = document("d5", f"{prose(5, 50)}\n  {shared}！\n{footer}")
    assert pairs_of(found(documents)) == [(2, 5)]
    assert pairs_of(found(documents, least=len(shared) + 1)) == []


def test_a_line_counts_once_for_a_document_and_short_ones_add_up() -> None:
    a = document("a", "甲乙丙丁戊己庚辛壬癸\n" * 3 + prose(1, 30))
    b = document("b", "甲乙丙丁戊己庚辛壬癸\n子丑寅卯辰巳午未申酉\n" + prose(2, 30))
    c = document("c", "甲乙丙丁戊己庚辛壬癸\n子丑寅卯辰巳午未申酉\n" + prose(3, 30))
    assert pairs_of(found([a, b, c], least=20)) == [(1, 2)]
    assert pairs_of(found([a, b, c], least=10)) == [(0, 1), (0, 2), (1, 2)]


def test_a_line_above_the_cap_makes_a_star_that_is_reported() -> None:
    line = "本次清淤工程分为三段施工先行完成上游段后再开展其余两段"
    documents = [document(f"d{n}", f"{prose(n, 50)}\n{line}") for n in range(5)]
    result = found(documents, cap=3)
    assert pairs_of(result) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert [problem.code for problem in result.hits.left_out] == ["common_lines"]
    assert len(pairs_of(found(documents))) == 10


def test_line_breaks_are_those_of_each_raw_text() -> None:
    """Two documents of one normalised text may be broken into other lines."""
    first = document("a", "春夏秋冬山水\n风云花草树木")
    other = document("b", "春夏秋冬\n山水风云花草树木")
    result = found([first, other])
    text = "春夏秋冬山水风云花草树木"
    spans = zip(result.lines.start.tolist(), result.lines.end.tolist(), strict=True)
    assert [text[a:b] for a, b in spans] == [
        "春夏秋冬山水",
        "风云花草树木",
        "春夏秋冬",
        "山水风云花草树木",
    ]
    assert pairs_of(found([first, other], least=1)) == []


def test_nothing_to_count() -> None:
    result = found([document("a", "。。。\n——"), document("b", "\n\n")])
    assert (pairs_of(result), result.repeated, result.share) == ([], (), 0.0)
