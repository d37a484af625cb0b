"""Encodings are decided by content, and what cannot be decided is refused."""

from __future__ import annotations

import random

import pytest

from screening.documents import Problem
from screening.intake.encodings import Decoded, decode, decode_or_chosen

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


def test_both_readings_are_offered_and_the_chosen_one_is_named() -> None:
    data = "00元".encode("gb18030")
    unclear = decode(data)
    assert isinstance(unclear, Problem)
    assert unclear.params["readings"] == [
        ["utf-8", "UTF-8", data.decode("utf-8")],
        ["gb18030", "GB18030", "00元"],
    ]
    for chosen, text in (("gb18030", "00元"), ("GBK", "00元"), ("utf-8", data.decode("utf-8"))):
        read = decode_or_chosen(data, chosen)
        assert isinstance(read, Decoded)
        assert read.text == text
        assert [warning.code for warning in read.warnings] == ["encoding_chosen"]
    assert isinstance(decode_or_chosen(data, "klingon"), Problem)
    assert isinstance(decode_or_chosen(data + b"\xd4", "gb18030"), Problem)  # half a character


def test_a_choice_counts_only_where_there_is_one() -> None:
    for text, codec in ((SIMPLIFIED, "utf-8"), (SIMPLIFIED, "gb18030"), (TRADITIONAL, "cp950")):
        read = decode_or_chosen(text.encode(codec), "utf-16-le")
        assert isinstance(read, Decoded)
        assert read.text == text


@pytest.mark.parametrize("codec", ["iso2022_jp", "hz", "utf-7"])
def test_old_rules_in_plain_ascii_are_refused_by_name(codec: str) -> None:
    text = "図書館の利用時間" if codec == "iso2022_jp" else "本馆开放时间"
    refused = decode(text.encode(codec))
    assert isinstance(refused, Problem)
    assert refused.code == "encoding_unsupported"
    for plain in ("a+b=c and x+yyyyyyy-1", "~{x}~ is a set", "base64+Zm9vYmFyYmF6-"):
        assert isinstance(decode(plain.encode()), Decoded)


def test_gbk_that_is_valid_utf8_in_no_language_is_not_read_as_utf8() -> None:
    result = decode("值为True".encode("gb18030"))
    assert isinstance(result, Problem)
    assert "值为True" in str(result)


VARIED = (
    SIMPLIFIED,
    "合同双方经友好协商，就采购办公设备一事达成协议：总价款为人民币叁拾贰万伍仟元整（¥325,000.00），含税。",
    "奶奶正坐在灶前剥蒜，听见脚步声便笑了：“回来啦？锅里炖着萝卜呢！”屋檐下的燕子缩着脖子。",
    "患者，女，47岁，体温38.2℃，脉搏96次/分，双肺可闻及散在哮鸣音；予以雾化吸入。",
    "函数返回值为True时继续执行while循环，否则抛出ValueError异常；请用Python 3.11运行main.py。",
    "厨师把葱姜蒜切末，放入豆瓣酱煸炒，再下鳝鱼段翻炒，淋入黄酒，撒上胡椒粉即可起锅。",
    "２０２６年０３月，第１５届运动会在体育馆举行；参赛队伍３２支，球员ＪＡＭＥＳ到场。",
    "螳螂捕蝉，黄雀在后；鹬蚌相争，渔翁得利。蚂蚁搬家蛇过道，燕子低飞雨来到。",
)


def test_two_thousand_short_strings_are_never_read_wrong() -> None:
    """Pieces of 4 to 60 characters of many kinds of text: right or refused in every encoding; the shares are printed."""
    import opencc

    to_traditional = opencc.OpenCC("s2t").convert
    chance, whole = random.Random(2026), "".join(VARIED)
    strings = []
    for _ in range(2000):
        start, length = chance.randrange(len(whole) - 60), chance.randint(4, 60)
        strings.append(
            whole[start : start + length] + chance.choice(["", "", "", " ABC-1", "\r\n"])
        )
    for codec in (
        "utf-8",
        "utf-8-sig",
        "gb18030",
        "gbk",
        "cp950",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
    ):
        right = 0
        for string in strings:
            data = (to_traditional(string) if codec == "cp950" else string).encode(codec, "ignore")
            result = decode(data)
            if isinstance(result, Decoded):
                assert result.text == data.decode(codec).removeprefix("\ufeff"), codec
                right += 1
        print(codec, right)
        # “¥325,000.00” in UTF-8 is “楼325,000.00” in GB18030: nobody can tell, so that it is refused.
        assert right >= (1990 if codec.startswith("utf-8") or codec == "utf-16" else 1750)
