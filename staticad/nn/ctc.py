"""Connectionist temporal classification: labels in order, at times that are not known."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.shapes import same_shape
from staticad_schema.sites import asking
from staticad_schema.types import INT64, INTEGER

from .. import dimensions, methods
from ..building import build
from ..finding import expected
from ..operands import Operand, graph_of, result, tensor
from ..ops.control import assert_
from ..ops.ranges import arange
from ..options import flag
from ..tensor import Tensor
from .floats import float_tensor, widened
from .reduction import Reduction, check_reduction

__all__ = ["ctc_loss"]


def ctc_loss(
    log_probabilities: Operand,
    labels: Operand,
    input_lengths: Operand,
    label_lengths: Operand,
    *,
    blank: int = 0,
    zero_infinity: bool = False,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """-log of the probability of all ways to spell the labels (Graves et al. 2006).

    A way names a class or the blank at each step; its labels are what is left when repeated names
    are one and blanks are dropped.
    log_probabilities: floats [steps, batch, classes], such as those of log_softmax, of a known
    number of steps.  labels: integers [batch, longest], of which the first label_lengths count;
    what counts must name a class other than the blank (else ExecutionError).
    input_lengths, label_lengths: integers [batch], at most the number of steps, and of labels.
    Where no way exists, as for more labels than steps, the loss is infinite, with gradient 0;
    zero_infinity: it is 0.
    reduction: "none", "sum", or "mean", that of losses over their number of labels, 1 at least.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     logs = sad.constant(np.log(np.full((2, 1, 3), 1 / 3, np.float32)))
    ...     loss = sad.nn.ctc_loss(logs, [[1]], [2], [1], reduction="none")
    >>> np.exp(-sad.Session(graph).run(loss)).round(4)  # "1 1", "1 -" and "- 1" of nine
    array([0.3333], dtype=float32)
    """
    asked = "ctc_loss"
    with asking(asked, name):
        check_reduction(reduction)
        graph = graph_of(asked, log_probabilities, labels, input_lengths, label_lengths)
        logs = float_tensor(asked, tensor(asked, log_probabilities, graph))
        names, steps, counts = (
            _integers(what, tensor(asked, v, graph))
            for what, v in (
                ("labels", labels),
                ("input_lengths", input_lengths),
                ("label_lengths", label_lengths),
            )
        )
        names, steps, counts = _fitting(logs, names, steps, counts)
        empty = dimensions.integer(blank)
        classes = logs.shape[2]
        if empty < 0 or (isinstance(classes, int) and empty >= classes):
            raise ArgumentError(
                "the blank is no class", expected=f"0 to {classes} - 1", found=str(blank)
            )
        with graph:
            names, steps, counts = _checked(logs, names, steps, counts, empty)
            (wide,) = widened(logs)
            losses = -_log_likelihood(wide, names, steps, counts, empty)
        if flag("zero_infinity", zero_infinity):
            endless = build("equal", (losses, math.inf))
            losses = build("where", (endless, losses.coerce(0.0), losses))
        if reduction == "none":
            return result(methods.cast(losses, logs.dtype, name))
        if reduction == "sum":
            total = methods.reduce("sum", losses, None, False)
            return result(methods.cast(total, logs.dtype, name))
        length = build("maximum", (counts, counts.coerce(1))).astype(losses.type.dtype)
        return result(methods.cast(methods.mean(losses / length, None, False), logs.dtype, name))


def _integers(what: str, x: Tensor) -> Any:
    if x.type.kind not in INTEGER:
        raise DTypeError(
            f"{what} are not integers", expected="an integer dtype", found=x.describe()
        )
    return x.astype(INT64)


def _fitting(logs: Tensor, labels: Any, steps: Any, counts: Any) -> list[Any]:
    """Labels and lengths for each example.  Raises ShapeError."""
    if logs.ndim != 3 or not isinstance(logs.shape[0], int):
        raise ShapeError(
            "not log probabilities of a known number of steps",
            expected="a tensor [steps, batch, classes]",
            found=logs.describe(),
            hint="the steps are unrolled: their number is an int; input_lengths says how many count"
            if logs.ndim == 3
            else None,
        )
    batch, fitting = logs.shape[1], []
    for what, x, shape in (
        ("labels", labels, (batch, labels.type.shape[-1] if labels.type.ndim else 0)),
        ("input_lengths", steps, (batch,)),
        ("label_lengths", counts, (batch,)),
    ):
        if same_shape(x.type.shape, shape) is False:
            raise ShapeError(
                f"{what} of another shape",
                expected=f"shape ({', '.join(map(str, shape))}), for {logs.describe()}",
                found=x.describe(),
            )
        fitting.append(expected(x, shape))
    return fitting


def _checked(
    logs: Tensor, labels: Any, steps: Any, counts: Any, blank: int
) -> tuple[Any, Any, Any]:
    """The same, but a run fails where they are out of range; labels that do not count are blank."""
    longest = methods.count(labels, (1,), INT64)
    steps = assert_(
        build("logical_and", (steps >= 0, steps <= logs.shape[0])),
        "an input length is not from 0 to the number of steps",
        steps,
    )
    counts = assert_(
        build("logical_and", (counts >= 0, counts <= longest)),
        "a label length is not from 0 to the number of labels",
        counts,
    )
    column = build("reshape", (counts,), {"shape": (counts.type.shape[0], 1)})
    counted = arange(labels.type.shape[1]) < column
    labels = build("where", (counted, labels, labels.coerce(blank)))
    classes = methods.count(logs, (2,), INT64)
    real = build("logical_and", (labels >= 0, labels < classes))
    other = build("not_equal", (labels, labels.coerce(blank)))
    known = build("logical_or", (build("logical_not", (counted,)), other))
    fine = build("logical_and", (real, known))
    return assert_(fine, "a label is the blank, or names no class", labels), steps, counts


def _log_likelihood(logs: Any, labels: Any, steps: Any, counts: Any, blank: int) -> Any:
    """log of the sum over all ways, by the sums over ways that have reached a place at a step.

    The places are blank, label 0, blank, label 1, …, blank: 2 longest + 1 of them.
    """
    total, batch, _ = logs.type.shape
    longest = labels.type.shape[1]
    places = 2 * longest + 1
    names = _interleaved(labels, blank)
    spread = build("reshape", (names,), {"shape": (1, batch, places)})
    # What each place adds at each step.
    gains = build("take_along_axis", (logs, spread), {"axis": 2})
    never = logs.coerce(-math.inf)
    index = arange(places)
    # Without a step there is one way to spell nothing, and none to spell anything.
    nothing = build("where", (build("equal", (counts, 0)), logs.coerce(0.0), never))
    if total == 0:
        return nothing
    # A label may follow the last one directly, unless they are the same.
    before = _shifted(names, 2, names.coerce(blank))
    skips = build("not_equal", (names, before))
    skips = build("logical_and", (skips, build("equal", (index % 2, 1))))
    skips = build("logical_and", (skips, index >= 2))
    current = build("where", (index <= 1, gains[0], never))
    for t in range(1, total):
        arrived = build("logaddexp", (current, _shifted(current, 1, never)))
        leapt = build("where", (skips, _shifted(current, 2, never), never))
        moved = build("logaddexp", (arrived, leapt)) + gains[t]
        going = build("reshape", (steps > t,), {"shape": (batch, 1)})
        current = build("where", (going, moved, current))
    last = build("reshape", (counts * 2,), {"shape": (batch, 1)})
    at_blank = build("take_along_axis", (current, last), {"axis": 1})
    label = build("maximum", (last - 1, last.coerce(0)))
    at_label = build("take_along_axis", (current, label), {"axis": 1})
    at_label = build("where", (last > 0, at_label, never))
    found = build("reshape", (build("logaddexp", (at_blank, at_label)),), {"shape": (batch,)})
    return build("where", (steps > 0, found, nothing))


def _interleaved(labels: Any, blank: int) -> Any:
    """[batch, 2 longest + 1]: the labels with blanks around each."""
    batch, longest = labels.type.shape
    pair = build("reshape", (labels,), {"shape": (batch, longest, 1)})
    empty = build("broadcast_to", (labels.coerce(blank),), {"shape": (batch, longest, 1)})
    pairs = build("concat", (empty, pair), {"axis": 2})
    flat = build("reshape", (pairs,), {"shape": (batch, 2 * longest)})
    end = build("broadcast_to", (labels.coerce(blank),), {"shape": (batch, 1)})
    return build("concat", (flat, end), {"axis": 1})


def _shifted(x: Any, by: int, value: Any) -> Any:
    """The last axis moved to the right, `value` where it falls free."""
    batch, size = x.type.shape
    free = build("broadcast_to", (value,), {"shape": (batch, by)})
    joined = build("concat", (free, x), {"axis": 1})
    return methods.slice_along(joined, 1, None, size)
