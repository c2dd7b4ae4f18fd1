"""The NumPy device: ufuncs with `out=`, BLAS for contractions, tiles that stay in cache."""

from __future__ import annotations

from staticad_schema.node import Node


class NumpyDevice:
    """Runs every op, by its meaning where it has no kernel of its own."""

    name = "numpy"
    claimed = frozenset(
        {"softmax", "log_softmax", "cross_entropy", "normalize", "sinc", "matmul_transposed"}
    )

    def supports(self, node: Node) -> bool:
        """True: what has a meaning can be run."""
        return True
