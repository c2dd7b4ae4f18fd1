"""Philox 4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3" (SC 2011), on whole arrays of counters.

A block of four 32-bit words is a function of a 128-bit counter and a 64-bit key; nothing is
carried from one block to the next, so any part of a stream can be drawn alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint32]]

_ROUNDS = 10
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
# Blocks at a time: the temporaries stay in the cache.
_CHUNK = 4096


def philox(counter: Words, key: int) -> Words:
    """The blocks of counters, uint32[4, n] to uint32[4, n]; `key` has 64 bits, low word first."""
    # The words are kept in the low halves of uint64s: the multiplications are then exact.
    c0, c1, c2, c3 = counter.astype(np.uint64)
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(_ROUNDS):
        first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0 = (second >> _HALF) ^ c1 ^ np.uint64(k0)
        c1 = second & _LOW
        c2 = (first >> _HALF) ^ c3 ^ np.uint64(k1)
        c3 = first & _LOW
        k0, k1 = (k0 + _KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3]).astype(np.uint32)


def stream(count: int, *, key: int, path: int, run: int) -> Words:
    """The first `count` words of a stream: those of block 0, of block 1, and so on.

    The counter of block i holds the 64 bits of i, the 32-bit `path`, and the low 32 bits of
    the `run` number.
    """
    blocks = -(-count // 4)
    words = np.empty((blocks, 4), np.uint32)
    for start in range(0, blocks, _CHUNK):
        index = np.arange(start, min(start + _CHUNK, blocks), dtype=np.uint64)
        counter = np.empty((4, len(index)), np.uint32)
        counter[0] = index & _LOW
        counter[1] = index >> _HALF
        counter[2] = path
        counter[3] = run & 0xFFFFFFFF
        words[start : start + len(index)] = philox(counter, key).T
    return words.reshape(-1)[:count]


def bits32(shape: tuple[int, ...], *, key: int, path: int, run: int) -> Words:
    """uint32 words, one an element."""
    return stream(math.prod(shape), key=key, path=path, run=run).reshape(shape)


def bits64(
    shape: tuple[int, ...], *, key: int, path: int, run: int
) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """uint64s of two consecutive words each, the low one first."""
    words = stream(2 * math.prod(shape), key=key, path=path, run=run).astype(np.uint64)
    return (words[0::2] | words[1::2] << _HALF).reshape(shape)
