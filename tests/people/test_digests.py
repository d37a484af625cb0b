"""The quick way of writing canonical JSON gives what RFC 8785 asks for, and refuses what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from dedupreview.digests import _plain, canonical

NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
@example({"\U00010000": 1, "\ue000": 2, "a": 3})
@example({"score": 0.8125, "none": 1.0, "tiny": 1e-7, "huge": 1e21, "zero": -0.0})
@example({"t": "\x00\x0b\x1f\x7f\u2028\"\\/\b\f\n\r\t副本😀"})
@example([1e-5, 1e-4, 123456789012345.6, 1e15, 1e16, 2**53 - 1])
def test_it_equals_the_reference(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\udfff": 1}, {1: 2}, b"x"]
)
def test_it_refuses_what_json_cannot_carry(value: Any) -> None:
    with pytest.raises((rfc8785.CanonicalizationError, UnicodeEncodeError)):
        canonical({"a": [value]})


def test_records_take_the_quick_way() -> None:
    record = {"label": "copy", "shown": {"jaccard": 0.8125, "left": True}, "kept": None, "n": [1]}
    assert _plain(record)
