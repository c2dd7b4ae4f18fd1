"""Writes to variables.  Each gives the variable's new value; when a run commits, all writes do.

That the operand fits the variable is checked by the graph that declares it: an op does not
know the variables.
"""

from __future__ import annotations

from ..op import Operand, op, undefined
from ..types import NUMERIC, TensorType
from .checks import check_kind

_HIDDEN_OPERAND = undefined(
    "its result also depends on the variable's old value, which is not an operand: "
    "differentiate the sum, and assign that"
)


@op(
    grad=lambda x, out, g: (g,),
    jvp=lambda x, out, tangents: tangents[0],
    batch="map",
    effect="writes",
)
def assign(x: Operand, *, variable: str) -> TensorType:
    """Set a variable to x."""
    return x


@op(grad=_HIDDEN_OPERAND, batch="map", effect="writes")
def assign_add(x: Operand, *, variable: str) -> TensorType:
    """Add x to a variable of a numeric dtype."""
    return check_kind(NUMERIC, x)


@op(grad=_HIDDEN_OPERAND, batch="map", effect="writes")
def assign_sub(x: Operand, *, variable: str) -> TensorType:
    """Subtract x from a variable of a numeric dtype."""
    return check_kind(NUMERIC, x)
