"""Mistakes in calls of transforms, convolutions and complex numbers: each is told in four parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

fft = sad.fft
# What a type checker would refuse is a mistake all the same.
ANY: Any = "?"
HALF: Any = 2.5
NOTHING: Any = None
FIVE: Any = 5
PAIR: Any = np.array([2, 2])


def x(*shape: Any, dtype: str = "float32") -> sad.Tensor:
    return sad.placeholder(dtype, shape or (3, 4))


def z(*shape: Any) -> sad.Tensor:
    return x(*shape, dtype="complex64")


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "an empty axis": (ValueError, "without elements", lambda: fft.fft(x(3, 0))),
    "an empty axis of several": (ValueError, "along axis 0", lambda: fft.fftn(x(0, 3))),
    "an empty real axis": (ValueError, "without elements", lambda: fft.rfft(x(0))),
    "an empty cosine axis": (ValueError, "without elements", lambda: fft.dct(x(0))),
    "one coefficient": (ValueError, "no points", lambda: fft.irfft(z(1))),
    "one coefficient of several axes": (ValueError, "no points", lambda: fft.irfft2(z(3, 1))),
    "an array as size": (TypeError, "not a size", lambda: fft.fftn(x(), s=PAIR, axes=1)),
    "no points": (ValueError, "no points", lambda: fft.fft(x(), 0)),
    "a negative size": (ValueError, "negative", lambda: fft.rfft(x(), -2)),
    "half a size": (TypeError, "not a size", lambda: fft.fft(x(), HALF)),
    "an axis beyond": (ValueError, "axis", lambda: fft.fft(x(), axis=2)),
    "a text as axis": (TypeError, "not an integer", lambda: fft.irfft(z(), axis=ANY)),
    "an axis of a scalar": (ValueError, "axis", lambda: fft.fft(1.0)),
    "an axis twice": (ValueError, "named twice", lambda: fft.fftn(x(), axes=(0, -2))),
    "two sizes of three axes": (
        ValueError,
        "one size an axis",
        lambda: fft.fftn(x(2, 2, 2), (2, 2), (0, 1, 2)),
    ),
    "more sizes than axes": (ValueError, "more sizes", lambda: fft.rfftn(x(), (1, 2, 3))),
    "no axis of a real transform": (ValueError, "no axis", lambda: fft.rfftn(x(), axes=())),
    "no axis of its inverse": (ValueError, "no axis", lambda: fft.irfftn(z(), axes=())),
    "two axes of a vector": (ValueError, "axis", lambda: fft.fft2(x(4))),
    "another norm": (ValueError, "not a norm", lambda: fft.fft(x(), norm=ANY)),
    "a number as norm": (ValueError, "not a norm", lambda: fft.dct(x(), norm=FIVE)),
    "half a spectrum of complex numbers": (TypeError, "use sad.fft.fft", lambda: fft.rfft(z())),
    "of several axes": (TypeError, "use sad.fft.fftn", lambda: fft.rfftn(z())),
    "its inverse": (TypeError, "use sad.fft.ifft", lambda: fft.ihfft(z())),
    "a text": (TypeError, "", lambda: fft.fft(ANY)),
    "frequencies of none": (ValueError, "no points", lambda: fft.fftfreq(0)),
    "no distance": (ValueError, "one place", lambda: fft.fftfreq(4, 0)),
    "a distance that is none": (TypeError, "", lambda: fft.rfftfreq(4, ANY)),
    "distances": (TypeError, "not a distance", lambda: fft.fftfreq(4, x(4))),
    "a complex distance": (TypeError, "real scalar", lambda: fft.fftfreq(4, z(2)[0])),
    "a norm for a size": (ValueError, "norm='ortho'", lambda: fft.rfft(x(), "ortho")),
    "a norm for a size of cosines": (
        ValueError,
        "norm='forward'",
        lambda: fft.idct(x(), 2, "forward"),
    ),
    "half a spectrum of complex numbers again": (
        TypeError,
        "use sad.fft.ifftn",
        lambda: fft.ihfftn(z()),
    ),
    "no axis of Hermitian numbers": (ValueError, "no axis", lambda: fft.hfftn(z(), axes=())),
    "one coefficient of Hermitian numbers": (ValueError, "no points", lambda: fft.hfft2(z(3, 1))),
    "ranks of a correlation": (ValueError, "different ranks", lambda: fft.correlate(x(), x(3))),
    "a correlation of matrices": (ValueError, "not a sequence", lambda: sad.correlate(x(), x(3))),
    "another mode of a correlation": (
        ValueError,
        "not a mode",
        lambda: sad.correlate(x(3), x(2), ANY),
    ),
    "an infinite distance": (ValueError, "finite", lambda: fft.rfftfreq(4, np.inf)),
    "integer frequencies": (TypeError, "floats", lambda: fft.fftfreq(4, dtype="int32")),
    "a shift of another axis": (ValueError, "axis", lambda: fft.fftshift(x(), axes=5)),
    "type 5": (ValueError, "1, 2, 3, 4", lambda: fft.dct(x(), FIVE)),
    "no type": (TypeError, "not an integer", lambda: fft.dst(x(), NOTHING)),
    "one point of type 1": (ValueError, "two ends", lambda: fft.dct(x(2, 1), 1)),
    "one point is left of type 1": (ValueError, "two ends", lambda: fft.idctn(x(), 1, (3, 1))),
    "no switch": (TypeError, "True or False", lambda: fft.dct(x(), orthogonalize=ANY)),
    "ranks of a convolution": (
        ValueError,
        "different ranks",
        lambda: fft.fftconvolve(x(), x(3)),
    ),
    "another mode": (ValueError, "not a mode", lambda: fft.fftconvolve(x(), x(), ANY)),
    "neither is larger": (
        ValueError,
        "larger one along all",
        lambda: fft.fftconvolve(x(3, 4), x(4, 3), "valid"),
    ),
    "other axes do not fit": (
        ValueError,
        "broadcast",
        lambda: fft.fftconvolve(x(3, 4), x(2, 4), axes=1),
    ),
    "nothing to convolve": (ValueError, "without elements", lambda: fft.fftconvolve(x(0), x(2))),
    "a matrix as sequence": (ValueError, "not a sequence", lambda: sad.convolve(x(), x(3))),
    "an empty sequence": (ValueError, "with elements", lambda: sad.convolve(x(3), x(0))),
    "another mode of sequences": (
        ValueError,
        "not a mode",
        lambda: sad.convolve(x(3), x(2), ANY),
    ),
    "bools as sequences": (
        TypeError,
        "does not admit",
        lambda: sad.convolve(x(3, dtype="bool"), x(3, dtype="bool")),
    ),
    "a complex part": (TypeError, "does not admit", lambda: sad.complex(z(), x())),
    "parts that do not broadcast": (
        ValueError,
        "broadcast",
        lambda: sad.complex(x(3), x(2)),
    ),
    "a complex length": (TypeError, "does not admit", lambda: sad.polar(z(), x())),
    "parts of real numbers": (TypeError, "not complex", lambda: sad.view_as_real(x())),
    "triples of parts": (ValueError, "pairs", lambda: sad.view_as_complex(x(2, 3))),
    "a part alone": (ValueError, "pairs", lambda: sad.view_as_complex(x(2)[0])),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_while_building(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    with sad.Graph(), pytest.raises(kind) as caught:
        mistake()
    assert text in str(caught.value)
    check_parts(caught.value, mistake, x, z)


def test_sizes_that_turn_out_empty() -> None:
    with sad.Graph() as graph:
        rows = sad.placeholder("float32", (None, None), name="rows")
        spectrum = sad.placeholder("complex64", (None,), name="spectrum")
        found = [fft.fft(rows), fft.rfft(rows), fft.dct(rows), fft.fftn(rows)]
        back = fft.irfft(spectrum)
    with sad.Session(graph) as session:
        for y in found:
            with pytest.raises(sad.StaticadError, match="without elements") as caught:
                session.run(y, {rows: np.zeros((2, 0))})
            assert "test_mistakes_fourier.py" in str(caught.value)
        for y in found[:3]:
            assert len(session.run(y, {rows: np.zeros((0, 3))})) == 0
        with pytest.raises(sad.StaticadError, match=r"test_mistakes_fourier\.py"):
            session.run(back, {spectrum: np.zeros(1)})


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(
    "f", [sad.convolve, sad.correlate, fft.fftconvolve, fft.correlate], ids=["conv", "corr"] * 2
)
def test_sequences_that_turn_out_empty(f: Any, mode: Any) -> None:
    with sad.Graph() as graph:
        a, b = sad.placeholder("float64", ("n",)), sad.placeholder("float64", ("m",))
        y = f(a, b, mode)
    with sad.Session(graph) as session:
        for n, m in ((0, 3), (3, 0), (0, 0)):
            with pytest.raises(sad.ShapeError, match=r"\(1,\)") as caught:
                session.run(y, {a: np.ones(n), b: np.ones(m)})
            assert "test_mistakes_fourier.py" in str(caught.value)
        assert len(session.run(y, {a: np.ones(1), b: np.ones(1)})) == 1
