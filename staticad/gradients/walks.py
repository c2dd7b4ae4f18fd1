"""What derivatives of bodies need of the walks, which are above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# (graph, cotangents by value, values) -> the cotangents of those that they depend on.
Pull = Callable[..., dict[int, Any]]
# (graph, tangents by value, values) -> the tangents of those that depend on them.
Push = Callable[..., dict[int, Any]]
