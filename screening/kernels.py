"""The loops that decide the speed of a screening run: arrays in, arrays out, no Python objects.

Every kernel works on a slice ``[lo, hi)`` of documents or pairs and releases the GIL, so that a plain thread pool
runs them side by side. None of them uses numba's own threads, which do not survive a fork.

One file on purpose, however long: numba's on-disk cache notices a change of the file that a kernel stands in, not of
kernels that it calls from another file, and would go on running the old ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

SLOW = 1 << 30
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
ROLL = np.uint64(0xD6E8FEB86659FD93)


def kernel(function: F) -> F:
    """Compile without the GIL, from the on-disk cache where there is a place to keep one."""
    try:
        return cast(F, njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no directory that it may write to
        return cast(F, njit(nogil=True)(function))


@kernel
def mix64(h: Any) -> Any:
    """The 64-bit finaliser of MurmurHash3: every bit of the input reaches every bit of the output."""
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    h ^= h >> np.uint64(33)
    return h


# ---------------------------------------------------------------- normalisation


@kernel
def normalise_lengths(
    raw: Any, bounds: Any, entries: Any, starts: Any, lengths: Any, slow: Any
) -> None:
    """Length of each normalised text; ``slow[d]`` is set where a composing character calls for whole-string NFKC."""
    size = entries.shape[0]
    for d in range(bounds.shape[0] - 1):
        total = 0
        for i in range(bounds[d], bounds[d + 1]):
            c = raw[i]
            if c >= size:
                continue
            v = entries[c]
            if v >= SLOW or v <= -SLOW:
                slow[d] = 1
                v = v - SLOW if v >= SLOW else v + SLOW
            if v > 0:
                total += 1
            elif v < 0:
                total += starts[-v] - starts[-v - 1]
        lengths[d] = total


@kernel
def normalise_fill(
    raw: Any,
    bounds: Any,
    entries: Any,
    starts: Any,
    tail: Any,
    slow: Any,
    out_bounds: Any,
    text: Any,
    offsets: Any,
) -> None:
    """Write the normalised code points and, for each, the raw offset (within its document) it came from."""
    size = entries.shape[0]
    for d in range(bounds.shape[0] - 1):
        if slow[d]:
            continue
        o = out_bounds[d]
        first = bounds[d]
        for i in range(first, bounds[d + 1]):
            c = raw[i]
            if c >= size:
                continue
            v = entries[c]
            if v > 0:
                text[o] = v
                offsets[o] = i - first
                o += 1
            elif v < 0:
                for t in range(starts[-v - 1], starts[-v]):
                    text[o] = tail[t]
                    offsets[o] = i - first
                    o += 1


# ---------------------------------------------------------------- shingles and signatures


@kernel
def window_key(symbols: Any, i: int, k: int, packed: bool) -> Any:
    """The key of the window of ``k`` symbols at ``i``; see :func:`shingle_keys`."""
    h = np.uint64(0)
    if packed:
        for j in range(k):
            h = (h << np.uint64(21)) | np.uint64(symbols[i + j])
        return h
    h = np.uint64(k)
    for j in range(k):
        h = mix64(h ^ (np.uint64(symbols[i + j]) + MULTIPLIER))
    return h


@kernel
def shingle_keys(
    symbols: Any,
    bounds: Any,
    entries: Any,
    k: int,
    packed: bool,
    lo: int,
    hi: int,
    places: Any,
    keys: Any,
) -> None:
    """A 64-bit key for every window of ``k`` symbols of ``entries[lo:hi]``; entry e's go to ``keys[places[e, 0]:places[e, 1]]``.

    ``packed`` (code points, k <= 3): 21 bits a symbol, so keys are equal exactly when windows are. Otherwise a
    64-bit hash of the window.
    """
    for n in range(lo, hi):
        d = entries[n]
        o = places[d, 0]
        for i in range(bounds[d], bounds[d + 1] - k + 1):
            keys[o] = window_key(symbols, i, k, packed)
            o += 1


@kernel
def shingle_hash32(key: Any) -> Any:
    """The recorded 32-bit shingle hash: the upper half of the mixed key."""
    return np.uint32(mix64(key ^ MULTIPLIER) >> np.uint64(32))


@kernel
def fmix32(h: Any) -> Any:
    """datasketch 2 passes every 32-bit hash through this before it permutes it."""
    h ^= h >> np.uint32(16)
    h = np.uint32(h * np.uint32(0x85EBCA6B))
    h ^= h >> np.uint32(13)
    h = np.uint32(h * np.uint32(0xC2B2AE35))
    h ^= h >> np.uint32(16)
    return h


@kernel
def sign(
    keys: Any, places: Any, entries: Any, a: Any, b: Any, lo: int, hi: int, rows: Any
) -> None:
    """MinHash values of ``entries[lo:hi]`` under the permutations h -> a * h + b (mod 2**32), as datasketch's scheme affine32."""
    perms = a.shape[0]
    for x in range(lo, hi):
        d = entries[x]
        row = rows[d]
        row[:] = np.uint32(0xFFFFFFFF)
        i, end = places[d, 0], places[d, 1]
        # Four shingles a pass: the row is read and written a quarter as often, and the loop stays one of vectors.
        while i + 4 <= end:
            h0 = fmix32(shingle_hash32(keys[i]))
            h1 = fmix32(shingle_hash32(keys[i + 1]))
            h2 = fmix32(shingle_hash32(keys[i + 2]))
            h3 = fmix32(shingle_hash32(keys[i + 3]))
            for p in range(perms):
                v0 = np.uint32(np.uint32(a[p] * h0) + b[p])
                v1 = np.uint32(np.uint32(a[p] * h1) + b[p])
                v2 = np.uint32(np.uint32(a[p] * h2) + b[p])
                v3 = np.uint32(np.uint32(a[p] * h3) + b[p])
                row[p] = min(row[p], min(min(v0, v1), min(v2, v3)))
            i += 4
        while i < end:
            h0 = fmix32(shingle_hash32(keys[i]))
            for p in range(perms):
                row[p] = min(row[p], np.uint32(np.uint32(a[p] * h0) + b[p]))
            i += 1


@kernel
def sort_slices(keys: Any, places: Any, entries: Any, lo: int, hi: int, sizes: Any) -> None:
    """Sort the keys of each entry and move its distinct ones to the front; ``sizes`` tells how many there are."""
    for x in range(lo, hi):
        d = entries[x]
        start, end = places[d, 0], places[d, 1]
        keys[start:end].sort()
        o = start
        for i in range(start, end):
            if i == start or keys[i] != keys[o - 1]:
                keys[o] = keys[i]
                o += 1
        sizes[d] = o - start


@kernel
def band_hashes(rows: Any, band: int, width: int, out: Any) -> None:
    """One 64-bit hash of the ``width`` signature values of a band, for every row."""
    for d in range(rows.shape[0]):
        h = np.uint64(band + 1)
        for j in range(band * width, (band + 1) * width):
            h = mix64(h ^ (np.uint64(rows[d, j]) + MULTIPLIER))
        out[d] = h


@kernel
def signature_matches(rows: Any, left: Any, right: Any, lo: int, hi: int, out: Any) -> None:
    """How many signature values two rows have in common; divided by their number this estimates Jaccard."""
    for p in range(lo, hi):
        x = rows[left[p]]
        y = rows[right[p]]
        same = 0
        for j in range(x.shape[0]):
            same += 1 if x[j] == y[j] else 0
        out[p] = same


@kernel
def close_signatures(rows: Any, empty: Any, least: int, lo: int, hi: int, out: Any) -> int:
    """All pairs i < j (i in [lo, hi)) with at least ``least`` equal signature values, as i << 32 | j.

    Returns how many there are; only as many as fit are written, so the caller enlarges ``out`` and asks again.
    """
    found = 0
    n = rows.shape[0]
    for i in range(lo, hi):
        if empty[i]:
            continue
        x = rows[i]
        for j in range(i + 1, n):
            y = rows[j]
            same = 0
            for p in range(x.shape[0]):
                same += 1 if x[p] == y[p] else 0
            if same >= least and not empty[j]:
                if found < out.shape[0]:
                    out[found] = (np.uint64(i) << np.uint64(32)) | np.uint64(j)
                found += 1
    return found


@kernel
def group_pairs(docs: Any, ends: Any, cap: int, out: Any) -> int:
    """Pairs low << 32 | high of all members of each group ``docs[ends[g-1]:ends[g]]`` (sorted, may repeat).

    A group of more than ``cap`` members becomes a star around its first. Returns the number of pairs; only as many
    as fit are written.
    """
    found = 0
    start = 0
    for g in range(ends.shape[0]):
        end = ends[g]
        stop = end if end - start <= cap else start + 1
        for i in range(start, stop):
            for j in range(i + 1, end):
                if docs[i] == docs[j]:
                    continue
                low = min(docs[i], docs[j])
                high = max(docs[i], docs[j])
                if found < out.shape[0]:
                    out[found] = (np.uint64(low) << np.uint64(32)) | np.uint64(high)
                found += 1
        start = end
    return found


@kernel
def intersect_sorted(
    keys: Any, places: Any, sizes: Any, left: Any, right: Any, lo: int, hi: int, out: Any
) -> None:
    """Number of keys that two sorted distinct slices share."""
    for p in range(lo, hi):
        i = places[left[p], 0]
        j = places[right[p], 0]
        i_end = i + sizes[left[p]]
        j_end = j + sizes[right[p]]
        same = 0
        while i < i_end and j < j_end:
            x, y = keys[i], keys[j]
            same += 1 if x == y else 0
            i += 1 if x <= y else 0
            j += 1 if y <= x else 0
        out[p] = same


# ---------------------------------------------------------------- passages


@kernel
def gram_hashes(text: Any, start: int, end: int, g: int, out: Any) -> int:
    """A mixed rolling hash of every ``g``-gram of ``text[start:end]``; returns how many were written."""
    n = end - start - g + 1
    if n <= 0:
        return 0
    top = np.uint64(1)
    for _ in range(g - 1):
        top = top * ROLL
    h = np.uint64(0)
    for i in range(start, start + g):
        h = h * ROLL + np.uint64(text[i] + 1)
    out[0] = mix64(h)
    for i in range(1, n):
        h = (h - top * np.uint64(text[start + i - 1] + 1)) * ROLL + np.uint64(
            text[start + i + g - 1] + 1
        )
        out[i] = mix64(h)
    return n


@kernel
def winnow(
    text: Any,
    bounds: Any,
    g: int,
    w: int,
    lo: int,
    hi: int,
    count_only: bool,
    counts: Any,
    hashes: Any,
    docs: Any,
    places: Any,
) -> None:
    """Robust winnowing (Schleimer, Wilkerson, Aiken 2003): of every ``w`` neighbouring ``g``-grams at least the least
    is kept, so that two texts sharing ``g + w - 1`` characters share a kept gram.

    With ``count_only`` only ``counts[d]`` is written; otherwise ``counts`` holds the first place of each document.
    """
    longest = 0
    for d in range(lo, hi):
        longest = max(longest, bounds[d + 1] - bounds[d])
    buffer = np.empty(max(longest, 1), dtype=np.uint64)
    for d in range(lo, hi):
        n = gram_hashes(text, bounds[d], bounds[d + 1], g, buffer)
        kept = 0
        o = 0 if count_only else counts[d]
        last = -1
        for i in range(w - 1, n):
            first = i - w + 1
            if last >= first:
                if buffer[i] < buffer[last]:
                    last = i
                else:
                    continue
            else:
                last = first
                for j in range(first + 1, i + 1):
                    if buffer[j] <= buffer[last]:
                        last = j
            if not count_only:
                hashes[o + kept] = buffer[last]
                docs[o + kept] = d
                places[o + kept] = bounds[d] + last
            kept += 1
        if count_only:
            counts[d] = kept


@kernel
def shares_run(text: Any, bounds: Any, d: int, i: int, e: int, j: int, least: int) -> bool:
    """Whether the maximal common run through ``text[i]`` (document d) and ``text[j]`` (e) has ``least`` characters."""
    length = 0
    a, b = i, j
    a_end, b_end = bounds[d + 1], bounds[e + 1]
    while length < least and a < a_end and b < b_end and text[a] == text[b]:
        length += 1
        a += 1
        b += 1
    a, b = i - 1, j - 1
    a_start, b_start = bounds[d], bounds[e]
    while length < least and a >= a_start and b >= b_start and text[a] == text[b]:
        length += 1
        a -= 1
        b -= 1
    return length >= least


@kernel
def blocks_share_run(
    text: Any,
    bounds: Any,
    docs: Any,
    places: Any,
    order: Any,
    a: int,
    a_end: int,
    b: int,
    b_end: int,
    least: int,
) -> bool:
    """Whether any two of the places of one document and of another lie on a common run of ``least`` characters.

    A gram that stands more than eight times in a document is taken as a hit: the careful stage measures the run.
    """
    if a_end - a > 8 or b_end - b > 8:
        return True
    for i in range(a, a_end):
        x = order[i]
        for j in range(b, b_end):
            y = order[j]
            if shares_run(text, bounds, docs[x], places[x], docs[y], places[y], least):
                return True
    return False


@kernel
def passage_pairs(
    text: Any,
    bounds: Any,
    order: Any,
    ends: Any,
    docs: Any,
    places: Any,
    least: int,
    cap: int,
    g_lo: int,
    g_hi: int,
    out: Any,
) -> Any:
    """Pairs of documents that share a run of ``least`` characters, from groups of equal fingerprints.

    ``order`` sorts the fingerprints by (hash, document, place) and ``ends`` closes the groups. In a group of more
    than ``cap`` documents each is joined to the first only. Returns (pairs found, groups above the cap, documents in
    the largest); pairs may repeat and only as many as fit are written.
    """
    found = 0
    above = 0
    largest = 0
    block = np.empty(1024, dtype=np.int64)
    for g in range(g_lo, g_hi):
        start = ends[g - 1] if g > 0 else 0
        end = ends[g]
        if end - start < 2:
            continue
        if end - start + 1 > block.shape[0]:
            block = np.empty(2 * (end - start) + 1, dtype=np.int64)
        distinct = 0
        for i in range(start, end):
            if i == start or docs[order[i]] != docs[order[i - 1]]:
                block[distinct] = i
                distinct += 1
        block[distinct] = end
        largest = max(largest, distinct)
        firsts = distinct
        if distinct > cap:
            above += 1
            firsts = 1
        for x in range(firsts):
            for y in range(x + 1, distinct):
                if blocks_share_run(
                    text,
                    bounds,
                    docs,
                    places,
                    order,
                    block[x],
                    block[x + 1],
                    block[y],
                    block[y + 1],
                    least,
                ):
                    if found < out.shape[0]:
                        low = np.uint64(docs[order[block[x]]])
                        out[found] = (low << np.uint64(32)) | np.uint64(docs[order[block[y]]])
                    found += 1
    return found, above, largest


# ---------------------------------------------------------------- templates


@kernel
def gram_entries(
    text: Any, bounds: Any, g: int, mask: Any, lo: int, hi: int, firsts: Any, out: Any
) -> None:
    """For every ``g``-gram its hash under ``mask`` joined with its place, ready to be sorted into groups."""
    longest = 0
    for d in range(lo, hi):
        longest = max(longest, bounds[d + 1] - bounds[d])
    buffer = np.empty(max(longest, 1), dtype=np.uint64)
    for d in range(lo, hi):
        n = gram_hashes(text, bounds[d], bounds[d + 1], g, buffer)
        o = firsts[d]
        for i in range(n):
            out[o + i] = (buffer[i] & mask) | np.uint64(bounds[d] + i)


@kernel
def rare_postings(
    entries: Any,
    mask: Any,
    doc_of: Any,
    cap: int,
    write: bool,
    spread: Any,
    posting_ends: Any,
    posting_docs: Any,
) -> Any:
    """Groups of grams that stand in 2 to ``cap`` documents.

    Sets ``spread[place]`` to the number of documents (at most 255, 0 for a single one) and returns (groups, postings, groups above the cap); with ``write`` fills the postings.
    """
    groups = 0
    postings = 0
    above = 0
    n = entries.shape[0]
    start = 0
    low = ~mask
    while start < n:
        h = entries[start] & mask
        end = start
        distinct = 0
        previous = -1
        while end < n and (entries[end] & mask) == h:
            d = doc_of[np.int64(entries[end] & low)]
            if d != previous:
                distinct += 1
                previous = d
            end += 1
        if distinct > cap:
            above += 1
            for i in range(start, end):
                spread[np.int64(entries[i] & low)] = min(distinct, 255)
        elif distinct >= 2:
            previous = -1
            for i in range(start, end):
                place = np.int64(entries[i] & low)
                spread[place] = min(distinct, 255)
                if write and doc_of[place] != previous:
                    previous = doc_of[place]
                    posting_docs[postings] = previous
                    postings += 1
            if write:
                posting_ends[groups] = postings
            else:
                postings += distinct
            groups += 1
        start = end
    return groups, postings, above


@kernel
def invert_postings(posting_ends: Any, posting_docs: Any, cursors: Any, members: Any) -> None:
    """The groups of each document, from the documents of each group; ``cursors`` start at the first places."""
    p = 0
    for g in range(posting_ends.shape[0]):
        while p < posting_ends[g]:
            d = posting_docs[p]
            members[cursors[d]] = g
            cursors[d] += 1
            p += 1


@kernel
def needed_cover(length: int, share: float, least: int) -> float:
    """Characters of the shorter text that must be covered: ``share`` of it, and ``least`` of them or two fifths of it."""
    return max(share * length, min(float(least), 0.4 * length))


@kernel
def template_pairs(
    posting_ends: Any,
    posting_docs: Any,
    member_bounds: Any,
    member_groups: Any,
    lengths: Any,
    g: int,
    share: float,
    least: int,
    lo: int,
    hi: int,
    n: int,
    out: Any,
) -> int:
    """Pairs i < j (i in [lo, hi)) whose shared rare grams could cover what :func:`needed_cover` asks for.

    Counts shared groups document by document; returns the number of pairs, writing as many as fit.
    """
    counts = np.zeros(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    found = 0
    for i in range(lo, hi):
        many = 0
        for m in range(member_bounds[i], member_bounds[i + 1]):
            group = member_groups[m]
            start = posting_ends[group - 1] if group > 0 else 0
            p = posting_ends[group] - 1
            while p >= start and posting_docs[p] > i:
                j = posting_docs[p]
                if counts[j] == 0:
                    touched[many] = j
                    many += 1
                counts[j] += 1
                p -= 1
        for t in range(many):
            j = touched[t]
            if counts[j] * g >= needed_cover(min(lengths[i], lengths[j]), share, least):
                if found < out.shape[0]:
                    out[found] = (np.uint64(i) << np.uint64(32)) | np.uint64(j)
                found += 1
            counts[j] = 0
    return found


# ---------------------------------------------------------------- the careful stage


@kernel
def _insert_run(runs: Any, count: int, left: int, right: int, length: int) -> int:
    """Append a run; a full list gives up its shortest."""
    if count < runs.shape[0]:
        spot = count
        count += 1
    else:
        spot = 0
        for r in range(1, count):
            if runs[r, 2] < runs[spot, 2]:
                spot = r
        if runs[spot, 2] >= length:
            return count
    runs[spot, 0] = left
    runs[spot, 1] = right
    runs[spot, 2] = length
    return count


@kernel
def index_grams(grams: Any, n: int, heads: Any, chain: Any, shift: Any) -> None:
    """Chains of equal slots over the grams of one text, the first place at the head."""
    heads[:] = -1
    for q in range(n - 1, -1, -1):
        slot = np.int64(grams[q] >> shift)
        chain[q] = heads[slot]
        heads[slot] = q


@kernel
def find_runs(
    text: Any,
    a: int,
    a_end: int,
    b: int,
    b_end: int,
    g: int,
    grams_a: Any,
    n_a: int,
    heads: Any,
    chain: Any,
    shift: Any,
    grams_b: Any,
    n_b: int,
    runs: Any,
) -> int:
    """Maximal common runs of at least ``g`` characters, by seed and extend; returns how many.

    Runs hold (left, right, length) relative to the texts. At one place of the right text up to 64 occurrences on the
    left are followed; past a budget of 32 comparisons a character (periodic texts) the scan jumps to the end of the
    longest run found at the place, so that time stays linear.
    """
    diagonals = np.empty(128, dtype=np.int64)
    stops = np.empty(128, dtype=np.int64)
    active = 0
    count = 0
    budget = 32 * (a_end - a + b_end - b) + 4096
    p = 0
    while p < n_b:
        h = grams_b[p]
        q = heads[np.int64(h >> shift)]
        followed = 0
        furthest = p
        while q >= 0 and followed < 64:
            if grams_a[q] != h:
                q = chain[q]
                continue
            followed += 1
            known = False
            x = 0
            while x < active:
                if stops[x] <= p:
                    active -= 1
                    diagonals[x] = diagonals[active]
                    stops[x] = stops[active]
                    continue
                if diagonals[x] == q - p:
                    known = True
                    furthest = max(furthest, stops[x])
                    break
                x += 1
            if not known:
                i, j = a + q, b + p
                while i < a_end and j < b_end and text[i] == text[j]:
                    i += 1
                    j += 1
                stop = j - b
                u, v = a + q, b + p
                while u > a and v > b and text[u - 1] == text[v - 1]:
                    u -= 1
                    v -= 1
                budget -= (j - v) + 1
                if j - v >= g and stop > p:
                    count = _insert_run(runs, count, u - a, v - b, j - v)
                    furthest = max(furthest, stop)
                    if active < diagonals.shape[0]:
                        diagonals[active] = q - p
                        stops[active] = stop
                        active += 1
            q = chain[q]
        if budget < 0 and furthest > p:
            p = furthest
        else:
            p += 1
    return count


@kernel
def order_by_key(keys: Any, order: Any) -> None:
    """Sort ``order`` by the keys it points at, equal ones by place: Shell's sort, for the few runs of one pair.

    numpy's argsort would have to be compiled too, which takes longer than all sorting of a small installation.
    """
    gap = 1
    while gap < order.shape[0]:
        gap = 3 * gap + 1
    while gap > 0:
        for x in range(gap, order.shape[0]):
            item = order[x]
            y = x
            while y >= gap:
                other = order[y - gap]
                if keys[other] < keys[item] or (keys[other] == keys[item] and other < item):
                    break
                order[y] = other
                y -= gap
            order[y] = item
        gap //= 3


@kernel
def choose_runs(runs: Any, count: int, cover_a: Any, cover_b: Any, chosen: Any) -> int:
    """Longest first (then leftmost), leave out a run of which more than half is already shown on a side.

    Marks the cover of both texts and writes the indices of the chosen runs; returns how many.
    """
    keys = np.empty(count, dtype=np.uint64)
    for r in range(count):
        # length descending, then left and right ascending, in one sortable number
        keys[r] = (
            (np.uint64(0xFFFFF - min(runs[r, 2], 0xFFFFF)) << np.uint64(44))
            | (np.uint64(min(runs[r, 0], 0x3FFFFF)) << np.uint64(22))
            | np.uint64(min(runs[r, 1], 0x3FFFFF))
        )
    order = np.arange(count)
    order_by_key(keys, order)
    kept = 0
    for x in range(count):
        r = order[x]
        left, right, length = runs[r, 0], runs[r, 1], runs[r, 2]
        seen_a = 0
        seen_b = 0
        for t in range(length):
            seen_a += cover_a[left + t]
            seen_b += cover_b[right + t]
        if 2 * seen_a > length or 2 * seen_b > length:
            continue
        for t in range(length):
            cover_a[left + t] = 1
            cover_b[right + t] = 1
        chosen[kept] = r
        kept += 1
    return kept


@kernel
def rare_cover(
    runs: Any,
    count: int,
    side: int,
    spread: Any,
    cap: int,
    base: int,
    g: int,
    length: int,
    marks: Any,
    out: Any,
) -> None:
    """What one text has under shared grams that stand in few documents.

    ``out[0]`` characters under grams of at most ``cap`` documents, ``out[1]`` how many documents a shared gram typically
    stands in (1 + harmonic mean of documents - 1; 0 unknown), ``out[2]`` thousandths of characters, each gram counting 1 / (documents - 1).
    """
    marks[:length] = 0
    for r in range(count):
        start = runs[r, side]
        for p in range(start, start + runs[r, 2] - g + 1):
            marks[p] = 1
    covered = 0
    grams = 0
    weight = 0.0
    reach = 0
    for p in range(length):
        if marks[p]:
            documents = np.int64(spread[base + p])
            if documents > 1:
                if documents <= cap:
                    reach = p + g
                grams += 1
                weight += 1.0 / (documents - 1)
        covered += 1 if p < reach else 0
    out[0] = covered
    out[1] = np.int64(1.5 + grams / weight) if grams else 0
    out[2] = np.int64(1000.0 * weight)


@kernel
def measure_pairs(
    text: Any,
    bounds: Any,
    left: Any,
    right: Any,
    spread: Any,
    cap: int,
    g: int,
    shown: int,
    lo: int,
    hi: int,
    measures: Any,
    excerpts: Any,
) -> None:
    """Shared runs of each pair (sorted by left).

    ``measures[p]`` = longest run, characters of left and of right under chosen runs, chosen runs, then the three
    values of :func:`rare_cover` for the shorter text (left alone where ``spread`` is empty). ``excerpts[p]`` = the first ``shown`` chosen runs, longest first.
    """
    longest = 1
    for p in range(lo, hi):
        longest = max(
            longest, bounds[left[p] + 1] - bounds[left[p]], bounds[right[p] + 1] - bounds[right[p]]
        )
    grams_a = np.empty(longest, dtype=np.uint64)
    grams_b = np.empty(longest, dtype=np.uint64)
    chain = np.empty(longest, dtype=np.int32)
    heads = np.empty(1, dtype=np.int32)
    shift = np.uint64(63)
    runs = np.empty((4096, 3), dtype=np.int64)
    chosen = np.empty(4096, dtype=np.int64)
    cover_a = np.zeros(longest, dtype=np.uint8)
    cover_b = np.zeros(longest, dtype=np.uint8)
    marks = np.zeros(longest, dtype=np.uint8)
    n_a = 0
    known = -1
    for p in range(lo, hi):
        d, e = left[p], right[p]
        a, a_end, b, b_end = bounds[d], bounds[d + 1], bounds[e], bounds[e + 1]
        if d != known:
            known = d
            n_a = gram_hashes(text, a, a_end, g, grams_a)
            bits = 4
            while (1 << bits) < 2 * n_a:
                bits += 1
            shift = np.uint64(64 - bits)
            heads = np.empty(1 << bits, dtype=np.int32)
            index_grams(grams_a, n_a, heads, chain, shift)
        n_b = gram_hashes(text, b, b_end, g, grams_b)
        count = find_runs(
            text, a, a_end, b, b_end, g, grams_a, n_a, heads, chain, shift, grams_b, n_b, runs
        )
        cover_a[: a_end - a] = 0
        cover_b[: b_end - b] = 0
        kept = choose_runs(runs, count, cover_a, cover_b, chosen)
        measures[p, 0] = runs[chosen[0], 2] if kept else 0
        measures[p, 1] = cover_a[: a_end - a].sum()
        measures[p, 2] = cover_b[: b_end - b].sum()
        measures[p, 3] = kept
        if spread.shape[0]:
            if a_end - a <= b_end - b:
                rare_cover(runs, count, 0, spread, cap, a, g, a_end - a, marks, measures[p, 4:7])
            else:
                rare_cover(runs, count, 1, spread, cap, b, g, b_end - b, marks, measures[p, 4:7])
        for x in range(shown):
            for y in range(3):
                excerpts[p, x, y] = runs[chosen[x], y] if x < kept else -1


@kernel
def first_shared(
    symbols: Any,
    bounds: Any,
    left: Any,
    right: Any,
    k: int,
    packed: bool,
    keys: Any,
    places: Any,
    sizes: Any,
    shown: int,
    lo: int,
    hi: int,
    out: Any,
) -> None:
    """Places in the left text of the first ``shown`` distinct shingles that the right text has too; -1 beyond."""
    met = np.empty(shown, dtype=np.uint64)
    for p in range(lo, hi):
        d, e = left[p], right[p]
        start, size = places[e, 0], sizes[e]
        found = 0
        for i in range(bounds[d], bounds[d + 1] - k + 1):
            if found == shown:
                break
            h = window_key(symbols, i, k, packed)
            a, b = start, start + size
            while a < b:
                m = (a + b) // 2
                if keys[m] < h:
                    a = m + 1
                else:
                    b = m
            if a >= start + size or keys[a] != h:
                continue
            repeated = False
            for x in range(found):
                if met[x] == h:
                    repeated = True
                    break
            if not repeated:
                met[found] = h
                out[p, found] = i - bounds[d]
                found += 1
        for x in range(found, shown):
            out[p, x] = -1


@kernel
def expand_pairs(
    low: Any,
    high: Any,
    members: Any,
    member_bounds: Any,
    cap: int,
    write: bool,
    left: Any,
    right: Any,
    source: Any,
) -> Any:
    """Pairs of documents of each pair of texts; returns (pairs, text pairs with more than ``cap`` of them).

    Above the cap only the first document of either text meets all documents of the other.
    """
    found = 0
    above = 0
    for p in range(low.shape[0]):
        a, a_end = member_bounds[low[p]], member_bounds[low[p] + 1]
        b, b_end = member_bounds[high[p]], member_bounds[high[p] + 1]
        whole = (a_end - a) * (b_end - b) <= cap
        above += 0 if whole else 1
        for i in range(a, a_end):
            for j in range(b, b_end):
                if whole or i == a or j == b:
                    if write:
                        left[found] = min(members[i], members[j])
                        right[found] = max(members[i], members[j])
                        source[found] = p
                    found += 1
    return found, above


@kernel
def _root(parent: Any, x: int) -> int:
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def spanning_pairs(left: Any, right: Any, count: int, out: Any) -> None:
    """Of pairs in order of preference those that connect what was not connected yet (Kruskal's forest)."""
    parent = np.arange(count)
    for p in range(left.shape[0]):
        a, b = _root(parent, left[p]), _root(parent, right[p])
        out[p] = a != b
        if a != b:
            parent[max(a, b)] = min(a, b)


@kernel
def component_roots(left: Any, right: Any, out: Any) -> None:
    """The least member of the connected component of each item of ``out`` under these pairs."""
    parent = np.arange(out.shape[0])
    for p in range(left.shape[0]):
        a, b = _root(parent, left[p]), _root(parent, right[p])
        if a != b:
            parent[max(a, b)] = min(a, b)
    for x in range(out.shape[0]):
        out[x] = _root(parent, x)
