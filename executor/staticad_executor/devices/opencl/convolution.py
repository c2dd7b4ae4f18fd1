"""Convolution and its transposes: which way they are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .code import Code
from .conv_weights import conv_weights
from .direct import direct
from .panels import panels
from .region import LocalBytes, Recipe, Region, shape_of, size_of
from .signature import Signature
from .spatial import MOST_PHASES, count_of_phases
from .target import Target
from .tiles import tiles, weight_tiles


def convolution(region: Region, target: Target, name: str = "convolution") -> Recipe:
    """The kernels of a region whose one step is `conv`, `conv_input` or `conv_weights`."""
    (step,) = region.steps
    shape = shape_of(step.types[0])
    if size_of(shape) == 0:
        return Recipe(())
    if any(0 in region.types[v].shape for v in step.inputs):
        return zeros(region, target, name)
    many = step.op == "conv_input" and count_of_phases(step.attributes, shape[2:]) > MOST_PHASES
    if target.alone or many:
        return direct(region, target, f"{name}_direct")
    if step.op == "conv_weights":
        way = weight_tiles if target.many_items else conv_weights
    else:
        way = tiles if target.many_items else panels
    recipe = way(region, target, name)
    return recipe if _fits(recipe, target) else direct(region, target, f"{name}_direct")


def _fits(recipe: Recipe, target: Target) -> bool:
    """Whether there is local memory enough."""
    return all(
        sum(a.nbytes for a in kernel.arguments if isinstance(a, LocalBytes)) <= target.local_bytes
        for kernel in recipe.kernels
    )


def zeros(region: Region, target: Target, name: str) -> Recipe:
    """The kernel of a result that is 0 everywhere."""
    type_ = region.types[region.outputs[0]]
    size = size_of(shape_of(type_))
    signature, code = Signature(size), Code()
    out = signature.pointer(region.goal(0), type_.dtype)
    run = 1 if target.many_items else 4096
    count = signature.number("size", size)
    kind = signature.index_type
    code.line(f"const {kind} start = get_global_id(0) * {run};")
    code.line(f"const {kind} stop = min(start + {run}, {count});")
    # All bits are 0, whatever the dtype.
    code.line(f"for ({kind} k = start; k < stop; ++k) {out}[k] = 0;")
    units = -(-size // run)
    local = max(1, min(target.work_group, 64, units)) if target.many_items else 1
    kernel = signature.kernel(f"{name}_zeros", code, (-(-units // local) * local,), (local,))
    return Recipe((kernel,))


Way = Callable[[Region, Target, str], Recipe]
CONVOLUTIONS: Mapping[str, Way] = MappingProxyType(
    {"conv": convolution, "conv_input": convolution, "conv_weights": convolution}
)
