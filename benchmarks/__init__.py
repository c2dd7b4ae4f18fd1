"""Timings side by side with other frameworks, each workload checked against known numbers.

Importing this package fixes the number of threads that a BLAS may use, so scripts import it before
anything that imports NumPy.  It does not know staticad: the peers' interpreters import it too.
`BENCHMARK_THREADS` in the environment asks for another number.
"""

import os

THREADS = int(os.environ.get("BENCHMARK_THREADS", "2"))

for _library in ("OMP", "MKL", "OPENBLAS", "NUMBA", "NUMEXPR"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", str(THREADS))
