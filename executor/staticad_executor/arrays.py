"""Arrays and their types."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.types import TensorType

Array = np.ndarray[Any, Any]


def array_type(array: Array) -> TensorType:
    """The static type of an array."""
    return TensorType(array.dtype, array.shape)
