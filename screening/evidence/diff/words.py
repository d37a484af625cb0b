"""Differences inside a paragraph: characters, but words where single characters would only confuse."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from rapidfuzz.distance import Indel

from ..align import Block, matching_blocks

_CLUSTER = 1500
_SHORT = 4
_REFINE = 12
_AROUND = 6
_NUMERALS = frozenset("0123456789.%‰-+零〇一二三四五六七八九十百千万亿两半")


@lru_cache(maxsize=1)
def tokenizer() -> Any:
    """The word list, loaded once (about .7 s)."""
    import jieba

    jieba.setLogLevel(logging.WARNING)
    words = jieba.Tokenizer()
    words.initialize()
    return words


# Official texts repeat themselves: the same few words around a difference are cut again and again.
@lru_cache(maxsize=8192)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(tokenizer().cut(text, HMM=False))


def _by_words(a: str, b: str) -> list[Block]:
    """Common words of two short texts, replaced words refined to characters where little differs."""
    left, right = _tokens(a), _tokens(b)
    blocks: list[Block] = []
    i = j = 0
    for op in Indel.opcodes(left, right):
        size_left = sum(map(len, left[op.src_start : op.src_end]))
        size_right = sum(map(len, right[op.dest_start : op.dest_end]))
        if op.tag == "equal":
            blocks.append(Block(i, j, size_left))
        i, j = i + size_left, j + size_right
    return _refined(a, b, blocks)


def _refined(a: str, b: str, blocks: list[Block]) -> list[Block]:
    found: list[Block] = []
    i = j = 0
    for block in [*blocks, Block(len(a), len(b), 0)]:
        x, y = a[i : block.i], b[j : block.j]
        if x and y and max(len(x), len(y)) <= _REFINE:
            inner = [
                Block(i + op.src_start, j + op.dest_start, op.src_end - op.src_start)
                for op in Indel.opcodes(x, y)
                if op.tag == "equal"
            ]
            # a character or two that two different words have in common only confuse
            if 2 * sum(block.size for block in inner) >= max(len(x), len(y)):
                found.extend(inner)
        elif x and y:
            found.extend(_edges(x, y, i, j))
        if block.size:
            found.append(block)
        i, j = block.i + block.size, block.j + block.size
    return found


def _edges(x: str, y: str, i: int, j: int) -> list[Block]:
    """What two replaced stretches share at their beginning and end."""
    limit = min(len(x), len(y))
    head = next((n for n in range(limit) if x[n] != y[n]), limit)
    tail = next((n for n in range(limit - head) if x[-1 - n] != y[-1 - n]), limit - head)
    edges = [Block(i, j, head)] if head else []
    if tail:
        edges.append(Block(i + len(x) - tail, j + len(y) - tail, tail))
    return edges


def inner_blocks(a: str, b: str) -> list[Block]:
    """Common stretches of two paragraphs, readable: an isolated edit to the character, dense ones by words."""
    if a == b:
        return [Block(0, 0, len(a))] if a else []
    blocks = matching_blocks(a, b)
    result: list[Block] = []
    start_i = start_j = 0
    cluster: list[Block] = []
    for block in [*blocks, Block(len(a), len(b), 0)]:
        last = block.i == len(a) and block.size == 0
        if not last and block.size < _SHORT and block.i + block.size < len(a) and block.i > 0:
            cluster.append(block)
            continue
        if cluster:
            x, y = a[start_i : block.i], b[start_j : block.j]
            if max(len(x), len(y)) <= _CLUSTER:
                inner = _by_words(x, y)
                result.extend(Block(start_i + n.i, start_j + n.j, n.size) for n in inner)
            else:
                result.extend(n for n in cluster if n.size > 1)
            cluster = []
        if block.size:
            result.append(block)
        start_i, start_j = block.i + block.size, block.j + block.size
    return _whole_words(a, b, _merged(result))


def _whole_words(a: str, b: str, blocks: list[Block]) -> list[Block]:
    """Widen replaced stretches to the words they cut: 国务院 against 国家, not 务院 against 家.

    Numerals stay as they are: how far a number reaches is decided where the raw text is known.
    """
    result = list(blocks)
    for at in range(len(result) - 1):
        before, after = result[at], result[at + 1]
        i0, i1 = before.i + before.size, after.i
        j0, j1 = before.j + before.size, after.j
        if i0 == i1 or j0 == j1 or max(i1 - i0, j1 - j0) > _REFINE:
            continue
        if not _NUMERALS.isdisjoint(a[i0:i1]) or not _NUMERALS.isdisjoint(b[j0:j1]):
            continue
        head_a, tail_a = _overhang(a, i0, i1)
        head_b, tail_b = _overhang(b, j0, j1)
        head = min(max(head_a, head_b), before.size)
        tail = min(max(tail_a, tail_b), after.size)
        result[at] = Block(before.i, before.j, before.size - head)
        result[at + 1] = Block(after.i + tail, after.j + tail, after.size - tail)
    return [block for block in result if block.size]


def _overhang(text: str, start: int, end: int) -> tuple[int, int]:
    """Characters by which the words at the two ends of a stretch reach beyond it, at most three each."""
    left = max(0, start - _AROUND)
    at = left
    head = tail = 0
    for word in _tokens(text[left : end + _AROUND]):
        following = at + len(word)
        if at < start < following:
            head = start - at
        if at < end < following:
            tail = following - end
        at = following
    return (head if head <= 3 else 0, tail if tail <= 3 else 0)


def _merged(blocks: list[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if block.size == 0:
            continue
        if merged:
            i, j, size = merged[-1]
            if i + size == block.i and j + size == block.j:
                merged[-1] = Block(i, j, size + block.size)
                continue
        merged.append(block)
    return merged
