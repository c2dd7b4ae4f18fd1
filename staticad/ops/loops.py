"""Functions that are applied again and again when the graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Dim
from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.sites import asking
from staticad_schema.types import BOOL, INT64

from .. import dimensions
from ..graph import Graph
from ..operands import Operand, graph_of, tensor
from ..options import flag
from ..trees import Tree, flattened, like, nested
from ..within import entered, free_name, require_function, traced
from .chunks import (
    ONE,
    Many,
    chunk_size,
    over,
    recomputed,
    spans,
    steps_of,
    steps_together,
    unrolled,
)
from .control import stop_gradient
from .joining import concat
from .ranges import arange
from .shapes import reshape


def while_loop(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    init: Any,
    max_iterations: int | None = None,
    *,
    name: str | None = None,
) -> Any:
    """The carry after body_fn has been applied to it for as long as cond_fn of it is true.

    init: the carry at the beginning, a tensor or tensors nested in tuples, lists and dicts.  A
    tuple or list is given to the functions as several arguments.  cond_fn: returns a bool scalar.
    body_fn: returns the next carry, of the same types, nested as `init` is.  Both may use tensors
    and variables from outside; they write no variables.  max_iterations: it ends after so many.

    Raises DTypeError and ShapeError where the carry changes its type; UsageError where it is nested
    in another way; GraphError for writes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a, b = sad.placeholder("int64", (), name="a"), sad.placeholder("int64", (), name="b")
    ...     divisor, _ = sad.while_loop(lambda x, y: y != 0, lambda x, y: (y, x % y), (a, b))
    >>> sad.Session(graph).run(divisor, {a: 84, b: 36})
    array(12)
    """
    with asking("while_loop", name):
        require_function("cond_fn", cond_fn)
        require_function("body_fn", body_fn)
        values, tree = flattened(init)
        if not values:
            raise UsageError("the carry is empty", expected="at least one tensor", found=str(tree))
        graph = graph_of("while_loop", *values)
        carry = [tensor("while_loop", value, graph) for value in values]
        several = isinstance(init, tuple | list)
        most = None if max_iterations is None else dimensions.integer(max_iterations)

        def arguments(parameters: tuple[Any, ...]) -> Any:
            given = nested(tree, parameters[: len(carry)])
            return tuple(given) if several else (given,)

        def test(*parameters: Any) -> list[Any]:
            asked = tensor("while_loop", cond_fn(*arguments(parameters)), graph)
            _require_truth(asked)
            if most is not None:
                asked = asked & (parameters[len(carry)] < most)
            return [asked]

        def step(*parameters: Any) -> list[Any]:
            own = carried(graph, carry, tree, body_fn(*arguments(parameters)), "body_fn")
            return own if most is None else [*own, parameters[len(carry)] + 1]

        with graph.lock:
            if most is not None:
                carry_and_count = [*carry, graph.handle(graph.scalar(0, INT64))]
            else:
                carry_and_count = carry
            types = [x.type for x in carry_and_count]
            names = free_name(graph, name or "while_loop", ("condition", "body"))
            parts = [traced(graph, names[0], types, test), traced(graph, names[1], types, step)]
            bodies = entered(graph, parts)
            attributes = {
                "condition": bodies.functions[0],
                "body": bodies.functions[1],
                "carried": len(types),
            }
            operands = [*[x.id for x in carry_and_count], *bodies.captured]
            node = graph.make(OPS["while_loop"], operands, attributes, name=name)
        return nested(tree, [graph.handle(node.start + k) for k in range(len(carry))])


def scan(
    fn: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: Any = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
    recompute_every: int | None = None,
    truncate_gradient: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """fn applied along the first axis of xs: (carry, x) -> (carry, y), again and again.

    init: the carry at the beginning, a tensor or tensors nested in tuples, lists and dicts.  xs:
    tensors whose first axes have one size, nested likewise, or None: then `length` says how often,
    an int or a size, and x is None.  reverse: from the last element to the first.

    Returns the last carry, and what fn gave beside it, stacked along a new first axis: the y of an
    element stands where the element did.  y may be None.  fn may use tensors and variables from
    outside, and draw random numbers, others each time; it writes no variables.

    unroll: how many steps an iteration of the graph's loop does; True: all of a known length, in
    no loop.  recompute_every: derivatives keep the carry of every so manieth step, and compute
    those between again; the square root of the length needs the least memory.  Values are the same
    bits with either; random numbers are others.  truncate_gradient: only the last so many steps
    have derivatives; what those before give is constant for them.

    Raises DTypeError and ShapeError where the carry changes its type or lengths differ; UsageError
    where it is nested in another way; GraphError for writes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     xs = sad.placeholder("float32", ("n",), name="xs")
    ...     total, sums = sad.scan(lambda c, x: (c + x, c + x), 0.0, xs)
    >>> sad.Session(graph).run([total, sums], {xs: [1.0, 2.0, 3.0]})
    [array(6., dtype=float32), array([1., 3., 6.], dtype=float32)]
    """
    with asking("scan", name):
        flag("reverse", reverse)
        require_function("fn", fn)

        def step(carry: Any, x: Any) -> Any:
            result = fn(carry, x)
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise UsageError(
                    "a step of a scan gives two things",
                    expected="(carry, y), where y may be None",
                    found=f"{result!r:.80}, a {type(result).__name__}",
                )
            return result

        many = steps_together(unroll, recompute_every)
        if truncate_gradient is None:
            return _scanned("scan", step, init, xs, length, reverse, name, many)
        last = steps_of("truncate_gradient", truncate_gradient)
        return _truncated(step, init, xs, length, reverse, name, many, last)


def map(
    fn: Callable[..., Any], xs: Any, /, *, unroll: int | bool = 1, name: str | None = None
) -> Any:
    """fn of each element along the first axis of xs, stacked along a new first axis.

    xs: a tensor, or tensors nested in tuples, lists and dicts, whose first axes have one size; fn
    is given elements nested likewise.  It may use tensors and variables from outside.  unroll: as
    for `scan`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     xs = sad.placeholder("float32", ("n", 2), name="xs")
    ...     lengths = sad.map(sad.linalg.vector_norm, xs)
    >>> sad.Session(graph).run(lengths, {xs: [[3.0, 4.0], [6.0, 8.0]]})
    array([ 5., 10.], dtype=float32)
    """
    with asking("map", name):
        require_function("fn", fn)

        def step(carry: Any, x: Any) -> Any:
            y = fn(x)
            if y is None:
                raise UsageError("the function returns nothing", expected="tensors", found="None")
            return carry, y

        many = steps_together(unroll, None)
        _, stacked = _scanned("map", step, (), xs, None, False, name, many)
        return stacked


def fori_loop(
    lower: Operand,
    upper: Operand,
    body_fn: Callable[..., Any],
    init: Any,
    *,
    unroll: int | bool = 1,
    recompute_every: int | None = None,
    name: str | None = None,
) -> Any:
    """The carry after body_fn(i, carry) has been applied for i from `lower` up to below `upper`.

    lower, upper: integers, sizes, or integer scalars.  init: as for `scan`.  unroll,
    recompute_every: as for `scan`, where lower and upper are no tensors.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     factorial = sad.fori_loop(1, 6, lambda i, product: product * i, sad.constant(1))
    >>> sad.Session(graph).run(factorial)
    array(120)
    """
    with asking("fori_loop", name):
        require_function("body_fn", body_fn)
        many = steps_together(unroll, recompute_every)
        values, _ = flattened(init)
        graph = graph_of("fori_loop", lower, upper, *values)
        with graph.lock:
            if isinstance(lower, int | Dim) and isinstance(upper, int | Dim):
                with graph:
                    numbers = arange(lower, upper, dtype="int64")
                last, _ = _scanned(
                    "fori_loop",
                    lambda carry, i: (body_fn(i, carry), None),
                    init, numbers, None, False, name, many,
                )  # fmt: skip
                return last
            if many != ONE:
                raise UsageError(
                    "a loop of a length that a run finds is neither unrolled nor recomputed",
                    expected="lower and upper as ints or sizes",
                    found=f"{lower!r:.80} and {upper!r:.80}",
                )
            begin = tensor("fori_loop", lower, graph).astype("int64")
            end = tensor("fori_loop", upper, graph).astype("int64")
            _, last = while_loop(
                lambda i, carry: i < end, lambda i, carry: (i + 1, body_fn(i, carry)),
                (begin, init), name=name,
            )  # fmt: skip
            return last


def carried(graph: Graph, carry: list[Any], tree: Tree, result: Any, what: str) -> list[Any]:
    """The next carry, nested as the first one; numbers take its dtypes."""
    given = like(tree, result, f"the carry that {what} returns")
    made = [
        value if isinstance(value, Handle) else graph.constant(value, dtype=begin.dtype)
        for value, begin in zip(given, carry, strict=True)
    ]
    return made


def _require_truth(asked: Any) -> None:
    if asked.type.dtype != BOOL:
        raise DTypeError(
            "the condition of a loop is no bool",
            expected="a bool of shape ()",
            found=asked.describe(),
            hint="compare it: x > 0, x != 0",
        )
    if asked.type.ndim:
        raise ShapeError(
            "the condition of a loop is no scalar",
            expected="a bool of shape ()",
            found=asked.describe(),
            hint="sad.any and sad.all make one of many",
        )


def _scanned(
    asked: str,
    fn: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    length: Any,
    reverse: bool,
    name: str | None,
    many: Many = ONE,
) -> tuple[Any, Any]:
    if many != ONE:
        return _in_chunks(asked, fn, init, xs, length, reverse, name, many)
    values, tree = flattened(init)
    elements, shape = ([], None) if xs is None else flattened(xs)
    graph = graph_of(asked, *values, *elements)
    carry = [tensor(asked, value, graph) for value in values]
    wholes = [tensor(asked, value, graph) for value in elements]
    steps = _length(asked, wholes, length)
    count = len(carry)
    stacked: list[Tree | None] = []

    def build(*parameters: Any) -> list[Any]:
        x = None if shape is None else nested(shape, parameters[count:])
        behind, y = fn(nested(tree, parameters[:count]), x)
        own = carried(graph, carry, tree, behind, "fn")
        given, kind = ([], None) if y is None else flattened(y)
        stacked.append(kind)
        return own + [
            v if isinstance(v, Handle) else graph.constant(v) for v in given
        ]  # fmt: skip

    types = [x.type for x in carry]
    types += [x.type.with_shape(x.type.shape[1:]) for x in wholes]
    with graph.lock:
        (own,) = free_name(graph, name or asked, ("body",))
        bodies = entered(graph, [traced(graph, own, types, build)])
        attributes = {
            "body": FunctionRef(bodies.functions[0]), "carried": count, "sequences": len(wholes),
            "length": steps, "reverse": bool(reverse),
        }  # fmt: skip
        operands = [*[x.id for x in (*carry, *wholes)], *bodies.captured]
        node = graph.make(OPS["scan"], operands, attributes, name=name)
        outputs = [graph.handle(v) for v in node.outputs]
    (kind,) = stacked
    ys = None if kind is None else nested(kind, outputs[count:])
    return nested(tree, outputs[:count]), ys


def _truncated(
    fn: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    length: Any,
    reverse: bool,
    name: str | None,
    many: Many,
    last: int,
) -> tuple[Any, Any]:
    """A scan of which only the last steps have derivatives."""
    elements = [] if xs is None else flattened(xs)[0]
    graph = graph_of("scan", *flattened(init)[0], *elements)
    wholes = [tensor("scan", value, graph) for value in elements]
    steps = _length("scan", wholes, length)
    before = dims.maximum(steps - last, 0)
    if before == 0:
        return _scanned("scan", fn, init, xs, length, reverse, name, many)
    parts = [(0, before), (before, steps)]
    if reverse:
        parts = [(steps - before, steps), (0, steps - before)]
    given = [
        over(xs, lambda x, a=a, b=b: tensor("scan", x, graph)[a:b]) for a, b in parts
    ]  # fmt: skip
    with graph:
        carry, found = _scanned("scan", fn, init, given[0], before, reverse, name, many)
        carry, found = over(carry, stop_gradient), over(found, stop_gradient)
        carry, more = _scanned("scan", fn, carry, given[1], steps - before, reverse, name, many)
        both = (more, found) if reverse else (found, more)
        return carry, over(both[0], lambda a, b: concat([a, b]), both[1])


def _in_chunks(
    asked: str,
    fn: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    length: Any,
    reverse: bool,
    name: str | None,
    many: Many,
) -> tuple[Any, Any]:
    """A scan of which each iteration does several steps, and of the rest of the steps."""
    values, tree = flattened(init)
    elements, shape = ([], None) if xs is None else flattened(xs)
    graph = graph_of(asked, *values, *elements)
    wholes = [tensor(asked, value, graph) for value in elements]
    steps = _length(asked, wholes, length)
    carry = nested(tree, [tensor(asked, value, graph) for value in values])
    size = chunk_size(many, steps)
    if (size == 1 and many.recomputed is None) or (isinstance(steps, int) and not steps):
        return _scanned(asked, fn, init, xs, length, reverse, name)
    begin, end = spans(steps, size, reverse)

    def part(first: Any, stop: Any) -> Any:
        return None if shape is None else nested(shape, [whole[first:stop] for whole in wholes])

    def chunk(state: Any, given: Any) -> tuple[Any, Any]:
        if many.recomputed is None:
            return unrolled(fn, state, given, size, reverse, asked)
        within = Many(many.unrolled, None)
        return recomputed(
            lambda c, e: _scanned(asked, fn, c, e, size, reverse, None, within), state, given
        )

    with graph:
        count = (end - begin) // size
        whole = over(part(begin, end), lambda x: reshape(x, (count, size, *x.type.shape[1:])))
        if isinstance(count, int) and count == 1:
            once = over(whole, lambda x: x[0])
            carry, found = chunk(carry, once)
        else:
            carry, found = _scanned(asked, chunk, carry, whole, count, reverse, name)
            found = over(found, lambda y: reshape(y, (end - begin, *y.type.shape[2:])))
        left = (end, steps) if not reverse else (0, begin)
        if left[0] == left[1]:
            return carry, found
        rest = left[1] - left[0]
        carry, more = _scanned(asked, fn, carry, part(*left), rest, reverse, name)
        both = (more, found) if reverse else (found, more)
        return carry, over(both[0], lambda a, b: concat([a, b]), both[1])


def _length(asked: str, wholes: list[Any], length: Any) -> Any:
    """How many iterations there are."""
    for whole in wholes:
        if not whole.type.ndim:
            raise ShapeError(
                "what is to be taken element by element is a scalar",
                expected="at least one axis",
                found=whole.describe(),
            )
    given = None if length is None else dimensions.size(length)
    if not wholes and given is None:
        raise UsageError(
            "nothing says how many iterations there are",
            asked=asked,
            expected="xs, or length=",
            found="neither",
        )
    return wholes[0].type.shape[0] if given is None else given
