"""The NumPy device: ufuncs with `out=`, BLAS for contractions, tiles that stay in cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.types import TensorType

from ..base import HOST


class NumpyDevice:
    """Runs every op, by its meaning where it has no kernel of its own."""

    name = "numpy"
    space = HOST
    claimed = frozenset(
        {"softmax", "log_softmax", "cross_entropy", "normalize", "sinc", "matmul_transposed"}
    )

    def why_not(
        self,
        op: str,
        attributes: Mapping[str, Any],
        operands: Sequence[TensorType],
        outputs: Sequence[TensorType],
    ) -> None:
        """None: what has a meaning can be run."""
        return
