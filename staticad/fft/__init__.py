"""Fourier transforms, under the names of NumPy and SciPy."""

from typing import TYPE_CHECKING, NoReturn

from ..elsewhere import missing
from .convolution import correlate, fftconvolve
from .cosine import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from .frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .hermitian import hfft, hfft2, hfftn, ihfft, ihfft2, ihfftn
from .real import irfft, irfft2, irfftn, rfft, rfft2, rfftn
from .spectra import fft, fft2, fftn, ifft, ifft2, ifftn

__all__ = [
    "correlate",
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftconvolve",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("fft", name)
