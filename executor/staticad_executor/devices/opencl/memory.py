"""Reading and writing elements: by vectors where they lie side by side, one by one at the ends of
rows and where they lie apart."""

from __future__ import annotations

from staticad_schema.types import BFLOAT16, BOOL, FLOAT16, DType

from .code import Code, Var
from .functions import BFLOAT_BITS, HALF_BITS, HALF_VALUE
from .scalars import memory_type, register_type, vector
from .typed import spread, with_lanes

# Side by side, at any multiple of an element's size.  PoCL's vload and vstore are calls on some
# processors, around which no vector stays in a register.
_VECTOR = "(({space} struct __attribute__((packed, aligned({size}))) {{ {kind} v; }} *)({at}))->v"


def stored_type(dtype: DType) -> str:
    """The C type behind pointers to elements; float16 as bits, since arrays of halves are an
    extension."""
    return "ushort" if dtype == FLOAT16 else memory_type(dtype)


def declare_read(code: Code, dtype: DType, lanes: int) -> None:
    """The function that `read` calls, if there is one: PoCL's reads of vectors of halves ask for
    places at multiples of their size."""
    if dtype == FLOAT16 and lanes > 1:
        with_lanes(code, "half_value", HALF_VALUE, lanes)


def read(pointer: str, dtype: DType, lanes: int, space: str = "__global") -> str:
    """The text that reads so many elements side by side into registers; of vectors of halves
    behind a `declare_read`."""
    if dtype == FLOAT16 and lanes == 1:
        return f"vload_half(0, (const {space} half *)({pointer}))"
    text = _vector(pointer, dtype, lanes, f"const {space}") if lanes > 1 else f"({pointer})[0]"
    if dtype == FLOAT16:
        return f"half_value{lanes}(convert_uint{lanes}({text}))"
    if dtype == BFLOAT16:
        wide = f"convert_uint{lanes}({text})" if lanes > 1 else f"(uint){text}"
        return f"as_{vector('float', lanes)}({wide} << 16)"
    if dtype == BOOL:
        return f"(convert_int{lanes}({text}) != 0)" if lanes > 1 else f"({text} != 0)"
    return text


def write(
    code: Code, pointer: str, text: str, dtype: DType, lanes: int, space: str = "__global"
) -> str:
    """The text that writes so many elements side by side."""
    if dtype == FLOAT16 and lanes == 1:
        return f"vstore_half_rte({text}, 0, ({space} half *)({pointer}))"
    if dtype == FLOAT16:
        text = f"{with_lanes(code, 'half_bits', HALF_BITS, lanes)}({text})"
    if dtype == BFLOAT16:
        bits = with_lanes(code, "bfloat_bits", BFLOAT_BITS, lanes)
        text = f"{bits}({text})"
        text = f"convert_ushort{lanes}({text})" if lanes > 1 else f"(ushort){text}"
    if dtype == BOOL:
        text = f"convert_uchar{lanes}(-{text})" if lanes > 1 else f"(uchar){text}"
    there = _vector(pointer, dtype, lanes, space) if lanes > 1 else f"({pointer})[0]"
    return f"{there} = {text}"


def _vector(pointer: str, dtype: DType, lanes: int, space: str) -> str:
    kind = vector(stored_type(dtype), lanes)
    return _VECTOR.format(space=space, size=dtype.itemsize, kind=kind, at=pointer)


def load(code: Code, pointer: str, dtype: DType, lanes: int, stride: str, count: str | None) -> Var:
    """Elements that lie a stride apart, the first `count` of them if that is given: then the
    text `count` is compared with the lanes where the program runs."""
    if lanes == 1:
        return code.named(read(pointer, dtype, 1), dtype)
    declare_read(code, dtype, lanes)
    whole = read(pointer, dtype, lanes)
    if stride == "1" and count is None:
        return code.named(whole, dtype, lanes)
    kind, element = register_type(dtype, lanes), stored_type(dtype)
    name = code.function(
        f"pick_{dtype.name}_{lanes}",
        f"\n{kind} pick_{dtype.name}_{lanes}"
        f"(const __global {element} *p, long stride, int count) {{\n"
        f"  {element} t[{lanes}];\n"
        f"  for (int k = 0; k < {lanes}; ++k) t[k] = k < count ? p[k * stride] : ({element})0;\n"
        f"  return {read('t', dtype, lanes, '__private')};\n}}\n",
    )
    picked = f"{name}({pointer}, {stride}, {count or lanes})"
    if stride == "1":
        picked = f"{count} >= {lanes} ? {whole} : {picked}"
    return code.named(picked, dtype, lanes)


def store(code: Code, pointer: str, value: Var, lanes: int, count: str | None) -> None:
    """Write elements side by side, the first `count` of them if that is given."""
    text, dtype = spread(value, lanes), value.dtype
    whole = write(code, pointer, text, dtype, lanes)
    if lanes == 1 or count is None:
        code.line(whole + ";")
        return
    kind, element = register_type(dtype, lanes), stored_type(dtype)
    name = code.function(
        f"put_{dtype.name}_{lanes}",
        f"\nvoid put_{dtype.name}_{lanes}(__global {element} *p, const {kind} v, int count) {{\n"
        f"  {element} t[{lanes}];\n"
        f"  {write(code, 't', 'v', dtype, lanes, '__private')};\n"
        f"  for (int k = 0; k < {lanes}; ++k) if (k < count) p[k] = t[k];\n}}\n",
    )
    code.line(f"if ({count} >= {lanes}) {whole}; else {name}({pointer}, {text}, {count});")
