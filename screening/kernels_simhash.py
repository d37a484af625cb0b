"""The loops of the SimHash channel: words of a text, fingerprints, and the join of near fingerprints.

A file of its own that calls no kernel of another one: numba's on-disk cache notices a change of the file that a kernel
stands in only. Every kernel releases the GIL and works on a slice, like those of :mod:`screening.kernels`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from screening.kernels import kernel

BITS = 64

MD5_SINES = np.array([int(abs(math.sin(i + 1)) * 2**32) for i in range(64)], dtype=np.uint32)
MD5_TURNS = np.array(
    [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]], dtype=np.uint32
)
MD5_ROOM = 55
"""Bytes that fit into one block of MD5 beside its ending."""

BYTES = np.uint64(0x0101010101010101)


@kernel
def _step(h: Any, point: Any) -> Any:
    """The hash of a string that is one code point longer; never 0, which marks an empty slot."""
    h ^= np.uint64(point) + np.uint64(0x9E3779B97F4A7C15) + (h << np.uint64(6)) + (h >> np.uint64(2))
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    h ^= h >> np.uint64(33)
    return h if h != np.uint64(0) else np.uint64(1)


@kernel
def _slot(keys: Any, h: Any) -> Any:
    """Where a key stands in an open table of a power of two slots, or the empty slot where it would."""
    mask = np.uint64(keys.shape[0] - 1)
    at = h & mask
    while keys[np.int64(at)] != np.uint64(0) and keys[np.int64(at)] != h:
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@kernel
def fill_dictionary(points: Any, bounds: Any, logs: Any, keys: Any, values: Any) -> None:
    """Enter words (code points end to end) with the logarithm of their frequency, NaN for a mere prefix."""
    for w in range(bounds.shape[0] - 1):
        h = np.uint64(0)
        for i in range(bounds[w], bounds[w + 1]):
            h = _step(h, points[i])
        at = _slot(keys, h)
        keys[at] = h
        values[at] = logs[w]


@kernel
def _kind(c: Any) -> int:
    """2 for a letter or digit of ASCII, 1 for another character that a word may hold, 0 for one that stands alone."""
    if (48 <= c <= 57) or (65 <= c <= 90) or (97 <= c <= 122):
        return 2
    if 0x4E00 <= c <= 0x9FD5 or c in (0x23, 0x25, 0x26, 0x2B, 0x2D, 0x2E, 0x5F):
        return 1
    return 0


@kernel
def split_words(
    text: Any, bounds: Any, lo: int, hi: int, keys: Any, values: Any, log_total: Any, starts: Any, hashes: Any, counts: Any
) -> int:
    """Words of the texts ``lo`` to ``hi``: places and hashes of all, words of each; returns how many words.

    The most probable path through the dictionary, ties to the longer word, single ASCII characters in a row as one word:
    what jieba does in its accurate mode without guessing of new words.
    """
    longest = 1
    for d in range(lo, hi):
        longest = max(longest, bounds[d + 1] - bounds[d])
    score = np.empty(longest + 1, dtype=np.float64)
    end = np.empty(longest + 1, dtype=np.int64)
    found = 0
    for d in range(lo, hi):
        before = found
        at = bounds[d]
        while at < bounds[d + 1]:
            stop = at
            while stop < bounds[d + 1] and _kind(text[stop]) > 0:
                stop += 1
            if stop == at:
                starts[found] = at
                hashes[found] = _step(np.uint64(0), text[at])
                found += 1
                at += 1
                continue
            _best_path(text, at, stop, keys, values, log_total, score, end)
            found = _walk(text, at, stop, end, starts, hashes, found)
            at = stop
        counts[d] = found - before
    return found


@kernel
def _best_path(
    text: Any, at: int, stop: int, keys: Any, values: Any, log_total: Any, score: Any, end: Any
) -> None:
    n = stop - at
    score[n] = 0.0
    for i in range(n - 1, -1, -1):
        best = -np.inf
        best_end = i + 1
        several = False
        h = np.uint64(0)
        for j in range(i, n):
            h = _step(h, text[at + j])
            slot = _slot(keys, h)
            if keys[slot] != h:
                break
            if not np.isnan(values[slot]):
                worth = values[slot] - log_total + score[j + 1]
                if not several or worth >= best:
                    best, best_end = worth, j + 1
                several = True
        if not several:
            best = 0.0 - log_total + score[i + 1]
        score[i] = best
        end[i] = best_end


@kernel
def _walk(text: Any, at: int, stop: int, end: Any, starts: Any, hashes: Any, found: int) -> int:
    """Write the words of one stretch; single letters and digits of ASCII that follow each other are one word."""
    i = 0
    open_run = False
    while i < stop - at:
        last = end[i]
        single = last == i + 1 and _kind(text[at + i]) == 2
        if single and open_run:
            hashes[found - 1] = _step(hashes[found - 1], text[at + i])
        else:
            h = np.uint64(0)
            for j in range(i, last):
                h = _step(h, text[at + j])
            starts[found] = at + i
            hashes[found] = h
            found += 1
        open_run = single
        i = last
    return found


@kernel
def md5_ends(data: Any, bounds: Any, lo: int, hi: int, out: Any) -> None:
    """Last eight bytes, as a number read from the left, of the MD5 of each string of at most :data:`MD5_ROOM` bytes.

    Longer strings are left out. Source: RFC 1321.
    """
    block = np.empty(16, dtype=np.uint32)
    for s in range(lo, hi):
        size = bounds[s + 1] - bounds[s]
        if size > MD5_ROOM:
            continue
        block[:] = 0
        for i in range(size):
            block[i // 4] |= np.uint32(data[bounds[s] + i]) << np.uint32(8 * (i % 4))
        block[size // 4] |= np.uint32(0x80) << np.uint32(8 * (size % 4))
        block[14] = 8 * size
        a, b = np.uint32(0x67452301), np.uint32(0xEFCDAB89)
        c, d = np.uint32(0x98BADCFE), np.uint32(0x10325476)
        for i in range(64):
            if i < 16:
                mixed, at = (b & c) | (~b & d), i
            elif i < 32:
                mixed, at = (d & b) | (~d & c), (5 * i + 1) % 16
            elif i < 48:
                mixed, at = b ^ c ^ d, (3 * i + 5) % 16
            else:
                mixed, at = c ^ (b | ~d), (7 * i) % 16
            mixed = np.uint32(mixed + a + MD5_SINES[i] + block[at])
            turn = MD5_TURNS[i // 16, i % 4]
            a, d, c = d, c, b
            b = np.uint32(b + np.uint32((mixed << turn) | (mixed >> (np.uint32(32) - turn))))
        third, fourth = np.uint32(c + np.uint32(0x98BADCFE)), np.uint32(d + np.uint32(0x10325476))
        value = np.uint64(0)
        for i in range(4):
            value |= np.uint64((third >> np.uint32(8 * i)) & np.uint32(255)) << np.uint64(56 - 8 * i)
            value |= np.uint64((fourth >> np.uint32(8 * i)) & np.uint32(255)) << np.uint64(24 - 8 * i)
        out[s] = value


@kernel
def _unload(lanes: Any, sums: Any) -> None:
    for x in range(8):
        for y in range(8):
            sums[8 * y + x] += np.int64((lanes[x] >> np.uint64(8 * y)) & np.uint64(255))
        lanes[x] = np.uint64(0)


@kernel
def fingerprints(
    words: Any, hashes: Any, weights: Any, first: Any, last: Any, lo: int, hi: int, values: Any, totals: Any
) -> None:
    """SimHash of the words ``words[first[s]:last[s]]`` of each segment ``lo`` to ``hi``, and the sum of their weights.

    Bit b is set where the weights of the words whose hash has it are more than half of all. A segment without weight
    has the total 0; its value says nothing. Source: Charikar 2002; Manku, Jain, Das Sarma 2007, §2.
    """
    sums = np.empty(BITS, dtype=np.int64)
    # Words of weight 1 are counted eight bits at a time: byte y of lane x counts bit 8 y + x, up to 255 words.
    lanes = np.zeros(8, dtype=np.uint64)
    for s in range(lo, hi):
        sums[:] = 0
        total = 0
        light = 0
        for i in range(first[s], last[s]):
            w = words[i]
            weight = weights[w]
            if weight == 0:
                continue
            h = hashes[w]
            total += weight
            if weight == 1:
                for x in range(8):
                    lanes[x] += (h >> np.uint64(x)) & BYTES
                light += 1
                if light == 255:
                    _unload(lanes, sums)
                    light = 0
                continue
            for b in range(BITS):
                sums[b] += weight * np.int64((h >> np.uint64(b)) & np.uint64(1))
        _unload(lanes, sums)
        value = np.uint64(0)
        for b in range(BITS):
            if 2 * sums[b] > total:
                value |= np.uint64(1) << np.uint64(b)
        values[s] = value
        totals[s] = total


@kernel
def ones(x: Any) -> Any:
    """How many bits are set."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def distances(values: Any, left: Any, right: Any, out: Any) -> None:
    """Bits in which two fingerprints differ."""
    for p in range(left.shape[0]):
        out[p] = ones(values[left[p]] ^ values[right[p]])


@kernel
def near_in_buckets(
    ordered: Any, order: Any, mask: Any, blocks: Any, chosen: Any, most: int, first: Any, second: Any, room: int
) -> int:
    """Pairs of fingerprints that agree under ``mask`` and differ in at most ``most`` bits; returns how many there are.

    ``ordered`` are fingerprints sorted by their bits under ``mask``, ``order`` their numbers. ``chosen`` are the blocks
    (rows of ``blocks``, masks) that make up ``mask``. A pair is given by the first choice of blocks in which it agrees
    only, so that all choices together give it once. Beyond ``room`` pairs are counted and not written.
    """
    n = ordered.shape[0]
    found = 0
    start = 0
    while start < n:
        stop = start + 1
        key = ordered[start] & mask
        while stop < n and (ordered[stop] & mask) == key:
            stop += 1
        for i in range(start, stop - 1):
            x = ordered[i]
            for j in range(i + 1, stop):
                differing = x ^ ordered[j]
                if ones(differing) > most:
                    continue
                if not _first_choice(differing, blocks, chosen):
                    continue
                if found < room:
                    first[found] = min(order[i], order[j])
                    second[found] = max(order[i], order[j])
                found += 1
        start = stop
    return found


@kernel
def _first_choice(differing: Any, blocks: Any, chosen: Any) -> Any:
    """Whether ``chosen`` are the first blocks in which two fingerprints agree."""
    met = 0
    for b in range(blocks.shape[0]):
        if met == chosen.shape[0]:
            return True
        if differing & blocks[b] == np.uint64(0):
            if chosen[met] != b:
                return False
            met += 1
    return met == chosen.shape[0]


@kernel
def _by_symbol(a: Any, ids: Any, firsts: Any, fill: Any, blocks: Any, masks: Any) -> int:
    """For each distinct symbol of ``a`` the 64-character blocks that hold it, with the bits of its places.

    Symbol s of ``a`` gets the number ``ids[s] - 1``; its blocks are ``firsts[n]`` to ``firsts[n] + fill[n]``. Returns how many
    symbols there are.
    """
    count = 0
    for i in range(a.shape[0]):
        if ids[a[i]] == 0:
            count += 1
            ids[a[i]] = count
            fill[count - 1] = 0
        fill[ids[a[i]] - 1] += 1
    at = 0
    for n in range(count):
        firsts[n] = at
        at += fill[n]
        fill[n] = 0
    for i in range(a.shape[0]):
        n = ids[a[i]] - 1
        bit = np.uint64(1) << np.uint64(i & 63)
        end = firsts[n] + fill[n]
        if fill[n] and blocks[end - 1] == i >> 6:
            masks[end - 1] |= bit
        else:
            blocks[end] = i >> 6
            masks[end] = bit
            fill[n] += 1
    return count


@kernel
def _common(b: Any, ids: Any, firsts: Any, fill: Any, blocks: Any, masks: Any, row: Any) -> int:
    """Length of the longest common subsequence, one bit of ``row`` for each character of the first text.

    Source: Hyyrö 2004, Bit-parallel LCS-length computation revisited. Blocks without the symbol change by a carry only.
    """
    row[:] = ~np.uint64(0)
    last = row.shape[0]
    for j in range(b.shape[0]):
        n = ids[b[j]] - 1
        if n < 0:
            continue
        carry = np.uint64(0)
        start, end = firsts[n], firsts[n] + fill[n]
        w = 0
        for k in range(start, end):
            while carry and w < blocks[k]:
                total = row[w] + np.uint64(1)
                carry = np.uint64(total == np.uint64(0))
                row[w] |= total
                w += 1
            w = blocks[k]
            old = row[w]
            met = old & masks[k]
            total = old + met
            over = np.uint64(total < old)
            total += carry
            carry = over | np.uint64(total < carry)
            row[w] = total | (old - met)
            w += 1
        while carry and w < last:
            total = row[w] + np.uint64(1)
            carry = np.uint64(total == np.uint64(0))
            row[w] |= total
            w += 1
    common = 0
    for w in range(last):
        common += ones(~row[w])
    return common


@kernel
def indel_ratios(
    text: Any, left: Any, left_end: Any, right: Any, right_end: Any, lo: int, hi: int, out: Any
) -> None:
    """1 - (characters to delete and to insert) / (characters of both) of spans of ``text``, for the pairs ``lo`` to ``hi``.

    Spans are ``text[left[p]:left_end[p]]`` and ``text[right[p]:right_end[p]]``. Two empty spans have the ratio 1.
    """
    longest = 1
    for p in range(lo, hi):
        longest = max(longest, left_end[p] - left[p])
    ids = np.zeros(0x110000, dtype=np.int32)
    firsts, fill = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    blocks, masks = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.uint64)
    row = np.empty(longest // 64 + 1, dtype=np.uint64)
    for p in range(lo, hi):
        a, a_end, b, b_end = left[p], left_end[p], right[p], right_end[p]
        both = (a_end - a) + (b_end - b)
        if both == 0:
            out[p] = 1.0
            continue
        common = 0
        while a < a_end and b < b_end and text[a] == text[b]:
            a += 1
            b += 1
            common += 1
        while a < a_end and b < b_end and text[a_end - 1] == text[b_end - 1]:
            a_end -= 1
            b_end -= 1
            common += 1
        if a < a_end and b < b_end:
            one, other = text[a:a_end], text[b:b_end]
            _by_symbol(one, ids, firsts, fill, blocks, masks)
            words = (one.shape[0] + 63) // 64
            common += _common(other, ids, firsts, fill, blocks, masks, row[:words])
            for i in range(one.shape[0]):
                ids[one[i]] = 0
        out[p] = 1.0 - (both - 2 * common) / both
