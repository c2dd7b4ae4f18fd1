"""Random bits: the generator's known answers, the layout of the counter, and the statistics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from staticad_schema.errors import GraphError
from staticad_schema.op import OPS
from staticad_schema.ops import philox
from staticad_schema.types import UINT32, UINT64, Array, TensorType, as_dtype

from .running import meaning

WORD = 0xFFFFFFFF
KEYS = (0, 0x0123456789ABCDEF, 2**64 - 1)


def bits(shape: tuple[int, ...], dtype: str = "uint32", *, key: int, path: int, run: int) -> Array:
    attributes = {"key": key, "path": path, "shape": shape, "dtype": as_dtype(dtype)}
    (result,) = meaning(OPS["random_bits"], [np.array(run, np.uint64)], attributes)
    return result


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (WORD, WORD, WORD, WORD),
            (WORD, WORD),
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers_of_the_paper(
    counter: tuple[int, ...], key: tuple[int, int], block: tuple[int, ...]
) -> None:
    words = np.array(counter, np.uint32).reshape(4, 1)
    found = philox.philox(words, key[0] | key[1] << 32)
    assert tuple(found[:, 0]) == block


def test_counter_holds_block_path_and_run() -> None:
    key, path, run = 0x299F31D0A4093822, 0x13198A2E, (5 << 32) | 0x03707344
    counter = np.zeros((4, 3), np.uint32)
    counter[0] = (0, 1, 2)
    counter[2] = path
    # Only the low half of the run number fits.
    counter[3] = 0x03707344
    expected = philox.philox(counter, key).T.reshape(-1)
    assert (bits((11,), key=key, path=path, run=run) == expected[:11]).all()


def test_64_bit_values_are_two_words_the_low_one_first() -> None:
    words = bits((6,), key=3, path=1, run=2).astype(np.uint64)
    wide = bits((3,), "uint64", key=3, path=1, run=2)
    assert (wide == words[0::2] + (words[1::2] << np.uint64(32))).all()


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_a_shorter_shape_is_a_prefix(dtype: str) -> None:
    # Also across the boundary of the chunks in which blocks are drawn.
    long = bits((50_000,), dtype, key=9, path=0, run=0)
    for count in (0, 1, 3, 4, 5, 16_384, 16_385, 33_333):
        assert (bits((count,), dtype, key=9, path=0, run=0) == long[:count]).all()
    shaped = bits((7, 11, 13), dtype, key=9, path=0, run=0)
    assert (shaped.reshape(-1) == long[: 7 * 11 * 13]).all()


def test_key_path_and_run_give_other_streams() -> None:
    base = {"key": 1, "path": 1, "run": 1}
    others = [{**base, name: 2} for name in base] + [{**base, "key": 1 | 1 << 32}]
    streams = [bits((1000,), "uint32", **given) for given in (base, *others)]
    for i, a in enumerate(streams):
        for b in streams[:i]:
            # 1,000 pairs of 32-bit words: one chance equality in four million such tests.
            assert not (a == b).any()
            r = np.corrcoef(a.astype(np.float64), b.astype(np.float64))[0, 1]
            assert abs(r) < 5 / np.sqrt(1000)


@pytest.mark.parametrize("key", KEYS)
def test_uniformity_by_kolmogorov_smirnov(key: int) -> None:
    for run in range(3):
        u = bits((20_000,), key=key, path=0, run=run) / 2**32
        assert stats.kstest(u, "uniform").pvalue > 1e-4
        wide = bits((20_000,), "uint64", key=key, path=7, run=run) / 2**64
        assert stats.kstest(wide, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("key", KEYS)
def test_bytes_and_pairs_by_chi_square(key: int) -> None:
    words = bits((40_000,), key=key, path=0, run=0)
    counts = np.bincount(words.view(np.uint8), minlength=256)
    assert stats.chisquare(counts).pvalue > 1e-4
    # Neighbouring words, and the same word of neighbouring blocks, by their top four bits.
    top = (words >> 28).astype(np.int64)
    for step in (1, 4):
        pairs = np.bincount(top[:-step] * 16 + top[step:], minlength=256)
        assert stats.chisquare(pairs).pvalue > 1e-4


@pytest.mark.parametrize("bit", range(32))
def test_each_bit_is_fair(bit: int) -> None:
    ones = int(((bits((20_000,), key=11, path=3, run=5) >> np.uint32(bit)) & 1).sum())
    # Five standard deviations of a binomial.
    assert abs(ones - 10_000) < 5 * np.sqrt(20_000) / 2


def test_streams_of_consecutive_runs_are_independent() -> None:
    first = [int(bits((1,), key=4, path=0, run=run)[0]) / 2**32 for run in range(2_000)]
    assert stats.kstest(first, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 5 / np.sqrt(2_000)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"key": -1}, "key is out of range"),
        ({"key": 2**64}, "key is out of range"),
        ({"path": 2**32}, "path is out of range"),
        ({"dtype": as_dtype("int32")}, "uint32, uint64"),
        ({"shape": (-1,)}, "not a size"),
    ],
)
def test_mistakes_are_refused(change: dict[str, object], part: str) -> None:
    good = {"key": 0, "path": 0, "shape": (2,), "dtype": UINT32}
    with pytest.raises(GraphError, match=part):
        OPS["random_bits"].infer(TensorType(UINT64, ()), **{**good, **change})


@pytest.mark.parametrize("run", [TensorType(UINT32, ()), TensorType(UINT64, (1,))])
def test_the_run_number_is_a_scalar(run: TensorType) -> None:
    with pytest.raises(GraphError, match="not a run number"):
        OPS["random_bits"].infer(run, key=0, path=0, shape=(2,), dtype=UINT32)
