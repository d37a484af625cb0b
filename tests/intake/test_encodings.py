"""Encodings are decided by content, and what cannot be decided is refused."""

from __future__ import annotations

import random

import pytest

from screening.documents import Problem
from screening.intake.encodings import Decoded, decode

SIMPLIFIED = (
    "青禾市图书馆关于调整开放时间的通知。自二〇二六年三月一日起，本馆每周一闭馆整理图书，其余日期上午九时至下午五时开放。"
    "读者凭借阅证入馆，请勿携带食品和饮料；遇有特殊情况需要提前闭馆的，将在大门口张贴告示，并通过电话告知预约的读者。"
    "自习室座位实行预约制，迟到三十分钟的座位自动释放。儿童阅览室由家长陪同进入，借阅的图书应当在三十日内归还。"
)
TRADITIONAL = (
    "青禾市圖書館關於調整開放時間的通知。自三月一日起，本館每週一閉館整理圖書，其餘日期上午九時至下午五時開放。"
    "讀者憑借閱證入館，請勿攜帶食品和飲料；遇有特殊情況需要提前閉館的，將在大門口張貼告示，並通過電話告知預約的讀者。"
    "自習室座位實行預約制，遲到三十分鐘的座位自動釋放。兒童閱覽室由家長陪同進入，借閱的圖書應當在三十日內歸還。"
)


def pieces(text: str, count: int) -> list[str]:
    """Short strings of 8 to 40 characters, always the same ones."""
    chance = random.Random(7)
    found = []
    for _ in range(count):
        length = chance.randint(8, 40)
        start = chance.randrange(len(text) - length)
        found.append(text[start : start + length])
    return found


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("utf-8", SIMPLIFIED),
        ("utf-8-sig", SIMPLIFIED),
        ("gb18030", SIMPLIFIED),
        ("gbk", SIMPLIFIED),
        ("big5", TRADITIONAL),
        ("utf-16", SIMPLIFIED),
        ("utf-16-le", SIMPLIFIED),
        ("utf-16-be", TRADITIONAL),
    ],
)
def test_short_strings_are_read_right_or_refused(codec: str, text: str) -> None:
    refused = 0
    for piece in pieces(text, 50):
        result = decode(piece.encode(codec))
        if isinstance(result, Problem):
            refused += 1
        else:
            assert result.text == piece
    assert refused <= 2


def test_a_long_text_is_read_in_each_encoding() -> None:
    for codec, text in (("gb18030", SIMPLIFIED), ("big5", TRADITIONAL), ("utf-16", SIMPLIFIED)):
        result = decode(text.encode(codec))
        assert isinstance(result, Decoded), result
        assert result.text == text


def test_a_guess_is_marked() -> None:
    result = decode("同意".encode("gb18030"))
    assert isinstance(result, Decoded)
    assert result.text == "同意"
    assert [warning.code for warning in result.warnings] == ["encoding_guessed"]


def test_rare_characters_need_gb18030_and_get_it() -> None:
    text = "经办人：𠮷某某，复核人：䶮某，办理日期为今年五月。"
    with pytest.raises(UnicodeEncodeError):
        text.encode("gbk")
    result = decode(text.encode("gb18030"))
    assert isinstance(result, Decoded)
    assert result.text == text


def test_byte_order_marks_are_no_part_of_the_text() -> None:
    for codec in ("utf-8-sig", "utf-16"):
        result = decode("甲乙丙".encode(codec))
        assert isinstance(result, Decoded)
        assert result.text == "甲乙丙"
        assert result.warnings == ()


def test_two_plausible_readings_are_both_named() -> None:
    result = decode("00元".encode("gb18030"))  # valid UTF-8 by accident
    assert isinstance(result, Problem)
    assert result.code == "encoding_unclear"
    assert "UTF-8" in str(result)
    assert "GB18030" in str(result)


@pytest.mark.parametrize("order", ["utf-8 first", "gb18030 first"])
def test_mixed_encodings_are_refused_with_a_position(order: str) -> None:
    utf, gb = SIMPLIFIED[:40].encode("utf-8"), SIMPLIFIED[40:90].encode("gb18030")
    data = utf + gb if order == "utf-8 first" else gb + utf
    result = decode(data)
    assert isinstance(result, Problem)
    position = result.params.get("position", result.params.get("start"))
    seam = len(utf) if order == "utf-8 first" else len(gb)
    assert isinstance(position, int)
    assert abs(position - seam) <= 3


def test_a_text_cut_in_a_character_is_refused_at_that_byte() -> None:
    data = SIMPLIFIED[:30].encode("utf-8")[:-1]
    result = decode(data)
    assert isinstance(result, Problem)
    assert result.params["position"] == len(data) - 2


def test_a_lost_byte_in_gb18030_is_not_read_as_other_characters() -> None:
    data = (SIMPLIFIED * 3).encode("gb18030")
    broken = data[:401] + data[402:]
    result = decode(broken)
    assert isinstance(result, Problem) or result.text.startswith(SIMPLIFIED * 3)


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("euc_kr", "오늘 회의에서 다음과 같은 결정을 내렸으니 모두 참석하여 주시기 바랍니다"),
        ("shift_jis", "本日の会議で次のように決定しましたのでお知らせいたします"),
        ("euc_jp", "本日の会議で次のように決定しましたのでお知らせいたします"),
        ("cp1252", "Déjà vu à l'école, les élèves étaient très âgés"),
        ("cp1251", "Сегодня состоялось заседание комиссии"),
    ],
)
def test_other_scripts_never_become_chinese(codec: str, text: str) -> None:
    assert isinstance(decode(text.encode(codec)), Problem)


@pytest.mark.parametrize(
    "text", ["Cédric naïve", "Сегодня заседание", "plain ASCII", "", "αβγ δεζ"]
)
def test_utf8_without_chinese_is_utf8(text: str) -> None:
    result = decode(text.encode())
    assert isinstance(result, Decoded)
    assert result.text == text


def test_a_chosen_encoding_is_applied_strictly() -> None:
    chosen = decode("00元".encode("gb18030"), encoding="gb18030")
    assert isinstance(chosen, Decoded)
    assert chosen.text == "00元"
    assert isinstance(decode(b"\xff\xff", encoding="gb18030"), Problem)
    assert isinstance(decode(b"abc", encoding="klingon"), Problem)
