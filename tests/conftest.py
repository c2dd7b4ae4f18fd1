"""Settings of all tests."""

import os
from pathlib import Path

from hypothesis import settings

# Read when NumPy is imported.  Tests run beside each other, and OpenBLAS threads that lose their
# core spin until it comes back: two of them can be a hundred times slower than one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What OpenCL kernels were compiled into, by this project and by PoCL, stays in the checkout.
CACHE = Path(__file__).parents[1] / ".cache"
os.environ.setdefault("STATICAD_CACHE", str(CACHE / "opencl"))
os.environ.setdefault("POCL_CACHE_DIR", str(CACHE / "pocl"))

# On a busy machine an example's time says nothing about the example.
settings.register_profile("staticad", deadline=None)
settings.load_profile("staticad")
