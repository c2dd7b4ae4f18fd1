"""What an op is: its signature, its meaning, its derivative; and the registry of all ops.

A definition is a type-inference function decorated with `@op(...)`.  Positional parameters
are tensors, keyword-only parameters are attributes, and every facet that any later stage
needs is an argument of the decorator, so that an op without one cannot be registered.
This module does not know graphs: calling an op on `Symbol`s asks them to append a node.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np

from .dims import Dim
from .errors import ArgumentError
from .types import WIDENED, TensorType, require_size

Operand: TypeAlias = TensorType
Types: TypeAlias = TensorType | tuple[TensorType, ...]
Effect = Literal["pure", "random", "reads", "writes", "io"]

# The kinds of attributes, as they are written in an op's signature.
Ints: TypeAlias = tuple[int, ...]
SymbolicShape: TypeAlias = "tuple[int | Dim, ...]"
Slices: TypeAlias = "tuple[tuple[int | Dim | None, int | Dim | None, int], ...]"
Widths: TypeAlias = "tuple[tuple[int | Dim, int | Dim], ...]"
ArrayValue: TypeAlias = np.ndarray[Any, Any]
# A symbol that only this node has: the size that its run finds for an axis of its results.
RunTimeSize: TypeAlias = Dim


class FunctionRef(str):
    """The name of a body in the graph's function table."""

    __slots__ = ()


class Symbol(Protocol):
    """What gradient rules and expansions compute with: a value of some graph."""

    @property
    def type(self) -> TensorType: ...

    def apply(self, definition: Op, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Append a node to this symbol's graph and return its output or outputs."""
        ...


class Constant:
    """The derivative is zero everywhere: a cotangent stops here."""

    def __repr__(self) -> str:
        return "constant"


class Undefined(NamedTuple):
    """There is no derivative, and asking for one is an error that says why."""

    why: str


constant = Constant()


def undefined(why: str) -> Undefined:
    """There is no derivative, because of `why`."""
    return Undefined(why)


class PerOperand:
    """A gradient rule given as one function an operand, so that only what is asked is built."""

    def __init__(self, *rules: Callable[..., Any] | None) -> None:
        self.rules = rules


def each(*rules: Callable[..., Any] | None) -> PerOperand:
    """One rule `(inputs..., out, g, *, attributes) -> cotangent` an operand; None is constant."""
    return PerOperand(*rules)


Grad: TypeAlias = (
    "Callable[..., Any] | PerOperand | Constant | Undefined | Literal['expand', 'bodies']"
)
Batch: TypeAlias = "Callable[..., Any] | Literal['elementwise', 'map']"
Jvp: TypeAlias = "Callable[..., Any] | Literal['derived', 'linear', 'multilinear']"


class Parameter(NamedTuple):
    """An attribute of an op."""

    name: str
    annotation: str
    default: Any  # inspect.Parameter.empty if it must be given


class Op:
    """One definition.  Called on Symbols it appends a node; see `op` for the facets."""

    __slots__ = (
        "batch", "bodies", "effect", "elementwise", "expand", "expr", "family", "grad",
        "infer", "inputs", "jvp", "name", "numpy", "parameters", "rule_attributes",
        "run_time_sizes", "site", "variadic", "view", "widen",
    )  # fmt: skip

    def __init__(self, infer: Callable[..., Types], **facets: Any) -> None:
        self.name: str = facets.pop("name")
        self.infer = infer
        self.family = infer.__module__.rpartition(".")[2]
        self._read_signature(infer)
        self.run_time_sizes: tuple[str, ...] = tuple(
            p.name for p in self.parameters.values() if p.annotation == "RunTimeSize"
        )
        self.bodies: tuple[str, ...] = tuple(
            p.name for p in self.parameters.values() if "FunctionRef" in p.annotation
        )
        self.numpy: Callable[..., Any] | None = facets.pop("numpy")
        self.grad: Grad = facets.pop("grad")
        self.jvp: Jvp = facets.pop("jvp")
        self.batch: Batch = facets.pop("batch")
        self.effect: Effect = facets.pop("effect")
        self.expr: str | Mapping[str, str] | None = facets.pop("expr")
        self.expand: Callable[..., Any] | None = facets.pop("expand")
        self.elementwise: bool = facets.pop("elementwise")
        self.view: bool = facets.pop("view")
        self.widen: bool = facets.pop("widen")
        self.rule_attributes: dict[Any, tuple[str, ...]] = {}
        if facets:
            raise TypeError(f"op {self.name}: no such facet: {', '.join(facets)}")
        self._check()

    def _read_signature(self, infer: Any) -> None:
        # By the code: `inspect.signature` of all ops takes a twentieth of the time of an import.
        code, empty = infer.__code__, inspect.Parameter.empty
        names, count, named = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
        self.variadic = bool(code.co_flags & inspect.CO_VARARGS)
        rest = count + named
        self.inputs: tuple[str, ...] = names[:count] + names[rest : rest + self.variadic]
        annotations, defaults = infer.__annotations__, infer.__kwdefaults__ or {}
        self.parameters: dict[str, Parameter] = {
            name: Parameter(name, str(annotations.get(name, empty)), defaults.get(name, empty))
            for name in names[count:rest]
        }

    @property
    def doc(self) -> str:
        """What the op is, in words."""
        return inspect.getdoc(self.infer) or ""

    def _check(self) -> None:
        problems = []
        if not self.infer.__doc__:
            problems.append("a docstring")
        means = self.numpy is not None or self.expand is not None or bool(self.bodies)
        if not means and self.effect in ("pure", "random"):
            problems.append("numpy= (the meaning), or expand=")
        if self.effect not in get_args(Effect):
            problems.append(f"effect= one of {get_args(Effect)}")
        if self.elementwise and self.expr is None and self.expand is None:
            problems.append("expr= or expand= (elementwise ops are data for any C-like device)")
        if self.jvp == "derived" and not self._derives_jvp():
            problems.append("jvp= (a rule, 'linear' or 'multilinear'; elementwise ops derive it)")
        if self.grad == "expand" and self.expand is None:
            problems.append("expand= (grad='expand' follows from it)")
        if self.grad == "bodies" and not self.bodies:
            problems.append("bodies (grad='bodies' follows from them)")
        if self.batch not in ("elementwise", "map") and not callable(self.batch):
            problems.append("batch= 'elementwise', an axis rule, or 'map'")
        if problems:
            raise TypeError(f"op {self.name} lacks " + "; ".join(problems))

    def _derives_jvp(self) -> bool:
        return (
            self.elementwise
            or isinstance(self.grad, Constant | Undefined)
            or (self.grad in ("expand", "bodies"))
        )

    def expression(self, kind: str) -> str | None:
        """The C expression for operands of a kind (of the last one, if they differ), or None."""
        if isinstance(self.expr, Mapping):
            return self.expr.get(kind)
        return None if kind == "complex" else self.expr

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        """Append a node to the graph of the first operand that is a Symbol."""
        for operand in operands:
            apply = getattr(operand, "apply", None)
            if apply is not None:
                return apply(self, operands, attributes)
        raise ArgumentError(
            f"op {self.name} is applied to no tensor of a graph",
            expected="at least one tensor",
            found=", ".join(type(o).__name__ for o in operands) or "nothing",
        )

    def takes(self, count: int) -> bool:
        """Whether the op can have that many operands."""
        return count >= len(self.inputs) - 1 if self.variadic else count == len(self.inputs)

    def attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All attributes in canonical order, defaults filled in.  Raises ArgumentError."""
        if not self.parameters:
            if given:
                raise ArgumentError(
                    f"unknown attribute {next(iter(given))!r}",
                    expected="no attribute", found=", ".join(given),
                )  # fmt: skip
            return _NO_ATTRIBUTES
        complete = {}
        for name, parameter in self.parameters.items():
            value = given.get(name, parameter.default)
            if value is inspect.Parameter.empty:
                raise ArgumentError(f"attribute {name!r} is missing", expected=parameter.annotation)
            complete[name] = value
        if len(given) > len(complete) or not given.keys() <= complete.keys():
            extra = sorted(given.keys() - complete.keys())
            raise ArgumentError(
                f"unknown attribute {extra[0]!r}",
                expected=", ".join(self.parameters),
                found=", ".join(given),
            )
        return complete

    def output_types(
        self, operands: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> tuple[TensorType, ...]:
        """What inference says of each output.  attributes: all of them, functions resolved.

        Raises GraphError, also for what is larger than any memory.
        """
        found = self.infer(*operands, **attributes)
        types = (found,) if isinstance(found, TensorType) else found
        for type_ in types:
            require_size(type_)
        return types

    def expansion(self, operands: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
        """The outputs, as handles: the op written in other ops, where there is an `expand`.

        An op that widens half floats does so here too: its expansion is in float32, and only
        the outputs are rounded.  attributes: all of them, functions resolved.
        """
        assert self.expand is not None
        half = self.widen and any(o.type.dtype in WIDENED for o in operands)
        if half:
            wide = [o.astype(WIDENED.get(o.type.dtype, o.type.dtype)) for o in operands]
        result = self.call_rule(self.expand, wide if half else operands, attributes)
        outputs: tuple[Any, ...] = result if isinstance(result, tuple) else (result,)
        if not half:
            return outputs
        types = self.output_types([o.type for o in operands], attributes)
        return tuple(x.astype(t.dtype) for x, t in zip(outputs, types, strict=True))

    def call_rule(
        self, rule: Callable[..., Any], args: Sequence[Any], attributes: Mapping[str, Any]
    ) -> Any:
        """Call a facet with those attributes that its signature names."""
        names = self.rule_attributes.get(rule)
        if names is None:
            parameters = inspect.signature(rule).parameters.values()
            if any(p.kind is p.VAR_KEYWORD for p in parameters):
                names = tuple(self.parameters)
            else:
                names = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
            self.rule_attributes[rule] = names
        return rule(*args, **{name: attributes[name] for name in names})


_NO_ATTRIBUTES: dict[str, Any] = {}

OPS: dict[str, Op] = {}
"""The registry: every op by name."""

FINDERS: set[str] = set()
"""The names of the ops with results of a size that depends on data."""

CALLERS: set[str] = set()
"""The names of the ops whose meaning is that of their bodies."""


def meaning(name: str) -> Any:
    """The meaning of the named op, for the meaning of another."""
    return OPS[name].numpy


def op(
    *,
    grad: Grad,
    batch: Batch,
    numpy: Callable[..., Any] | None = None,
    jvp: Jvp = "derived",
    effect: Effect = "pure",
    expr: str | Mapping[str, str] | None = None,
    expand: Callable[..., Any] | None = None,
    elementwise: bool = False,
    view: bool = False,
    widen: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Types]], Op]:
    """Define an op; the decorated function infers its output type or types.

    grad: `rule(*inputs, out, g, *, attributes)` returning one cotangent (or None) an operand,
        or `each(...)` of one such rule an operand, `constant`, `undefined(why)`, or "expand"
        (differentiate the expansion).  With several outputs `out` and `g` are tuples, and a
        missing cotangent is None.  A variadic op's inputs come as one tuple.  Cotangents need
        not have their operand's shape: whoever calls the rule sums them to it.
    jvp: `rule(*inputs, out, tangents, *, attributes)` returning the tangent of the output(s);
        `tangents` has one entry (or None) an operand.  Elementwise ops derive it from `grad`.
        "linear": the op applied to all tangents at once (zeros where there is none);
        "multilinear": the sum, over the operands that have a tangent, of the op with that
        operand replaced by its tangent.
    batch: "elementwise", `rule(*inputs, batched, *, attributes)` where `batched` says which
        operands have a leading batch axis and the result has one, or "map" (no rule).
    numpy: the meaning, arrays and all attributes to an array or a tuple of arrays.  Where
        the size of a result depends on data, an attribute of type `RunTimeSize` holds the
        symbol for it, which stands alone for an axis of some output; the meaning takes no
        notice of it.
    effect: pure; random (draws numbers); reads or writes variables; io.
    expr: a C expression in {operand names}, for elementwise ops; or one for each kind of the
        last operand's dtype ("float", "int", ...) that has one.  The names stand for variables
        of the operands' types, the functions for those of <tgmath.h>, which OpenCL has too.
    expand: `(*inputs, *, attributes) -> output(s)`, the same in other ops.
    elementwise: one output, computed element by element from broadcast operands.
    view: the output may share its input's memory.
    widen: float16 and bfloat16 compute in float32 and are rounded once.
    """

    def define(infer: Callable[..., Types]) -> Op:
        definition = Op(
            infer,
            name=name or infer.__name__.rstrip("_"),
            grad=grad, jvp=jvp, batch=batch, numpy=numpy, effect=effect, expr=expr,
            expand=expand, elementwise=elementwise, view=view, widen=widen,
        )  # fmt: skip
        if definition.name in OPS:
            raise TypeError(f"op {definition.name} is defined twice")
        OPS[definition.name] = definition
        if definition.run_time_sizes:
            FINDERS.add(definition.name)
        if definition.bodies and numpy is None:
            CALLERS.add(definition.name)
        return definition

    return define


def registry_lines() -> list[str]:
    """Every registered signature, by name."""
    lines = []
    for name in sorted(OPS):
        definition = OPS[name]
        attributes = [
            f"{p.name}: {p.annotation}"
            + ("" if p.default is inspect.Parameter.empty else f" = {p.default!r}")
            for p in definition.parameters.values()
        ]
        star = "*" if definition.variadic else ""
        lines.append(f"{name}({star}{', '.join(definition.inputs)}; {', '.join(attributes)})")
    return lines


def registry_digest() -> str:
    """A digest of every registered signature; a change to it means a new format version."""
    return hashlib.sha256("\n".join(registry_lines()).encode()).hexdigest()
