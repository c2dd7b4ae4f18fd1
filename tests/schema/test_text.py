"""The text form: exact, both ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from staticad_schema import (
    OPS,
    FormatError,
    Graph,
    Site,
    encode,
    from_text,
    line,
    symbol,
    to_text,
)
from staticad_schema.literal import Reader, value_text
from staticad_schema.types import BFLOAT16, FLOAT32
from tests.schema import samples
from tests.schema.samples import ARRAYS, add, assert_same_graph, placeholder, same


def test_everything_survives() -> None:
    graph = samples.everything()
    read = from_text(to_text(graph))
    assert_same_graph(graph, read)
    assert encode(read) == encode(graph)
    assert to_text(read) == to_text(graph)


def test_a_graph_reads_like_this() -> None:
    graph = Graph(seed=0)
    batch = symbol("batch")
    site = graph.intern_site(Site("model.py", 7, "build"))
    x = graph.append(
        OPS["placeholder"], (), {"dtype": FLOAT32, "shape": (batch, 10)}, name="x", site=site
    ).start
    half = graph.scalar(0.5, FLOAT32)
    scaled = add(graph, "multiply", x, half)
    add(graph, "sum", scaled, axis=(1,), keepdims=False)
    graph.append(OPS["group"], (), {}, after=(2,), name="all")
    assert (
        to_text(graph)
        == """\
staticad 1
seed 0
site 1 "model.py":7 "build"
%0 = placeholder(dtype=float32, shape=(<batch>, 10)) : float32[batch, 10]  name="x" site=1
%1 = constant(value=float32[]{0.5}) : float32[]
%2 = multiply(%0, %1) : float32[batch, 10]
%3 = sum(%2, axis=(1,), keepdims=False) : float32[batch]
@4 = group()  name="all" after=(%2)
"""
    )


def test_a_line_leaves_out_what_is_not_for_people() -> None:
    graph = Graph()
    site = graph.intern_site(Site("model.py", 7, "build"))
    graph.append(OPS["constant"], (), {"value": np.zeros(17)}, name="c", site=site)
    assert line(graph, 0) == '%0 = constant(value=float64[17]{...}) : float64[17]  name="c"'


@pytest.mark.parametrize("name", ARRAYS)
def test_L13_constants_keep_dtype_and_bits(name: str) -> None:
    graph = Graph()
    graph.constant(ARRAYS[name])
    assert same(from_text(to_text(graph)).nodes[0].attributes["value"], ARRAYS[name])


@pytest.mark.parametrize("name", samples.NAMES)
def test_L9_any_text_is_a_name(name: str) -> None:
    graph = Graph()
    placeholder(graph, symbol(name or "empty"), name=name)
    assert len(to_text(graph).split("\n")) == 3
    assert_same_graph(from_text(to_text(graph)), graph)


def test_L8_sixty_nested_bodies() -> None:
    graph = samples.nested(60)
    assert_same_graph(graph, from_text(to_text(graph)))


@given(hnp.arrays(st.sampled_from(["f2", "f4", "f8", "c8", "c16"]), hnp.array_shapes(max_side=3)))
def test_every_element_is_exact(array: np.ndarray[tuple[int, ...], np.dtype[np.inexact]]) -> None:
    text = value_text(array)
    reader = Reader(text)
    assert same(reader.value(), array)
    assert reader.end()


def test_every_bfloat16_is_exact() -> None:
    for start in range(0, 1 << 16, 16):
        array = np.arange(start, start + 16).astype("u2").view(BFLOAT16)
        assert same(Reader(value_text(array)).value(), array)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(1 << 63), (1 << 64) - 1)
        | st.floats(allow_nan=False)
        | st.text()
        | st.text(min_size=1).map(symbol),
        lambda items: st.lists(items, max_size=4).map(tuple),
        max_leaves=8,
    )
)
def test_every_attribute_is_exact(value: object) -> None:
    reader = Reader(value_text(value))
    assert repr(reader.value()) == repr(value)
    assert reader.end()


def test_a_constant_too_large_for_text_says_so() -> None:
    graph = Graph()
    graph.append(OPS["constant"], (), {"value": np.zeros(1 << 27, np.int8)})
    with pytest.raises(FormatError, match=r"\.sad"):
        to_text(graph)
    assert "..." in line(graph, 0)


HEAD = "staticad 1\n%0 = placeholder(dtype=float32, shape=(2,)) : float32[2]\n"

WRONG = {
    "nothing": "",
    "another version": "staticad 2\n",
    "another id": HEAD + "%7 = negative(%0) : float32[2]\n",
    "an id of no node": HEAD + "%1 = negative(%1) : float32[2]\n",
    "an unknown op": HEAD + "%1 = negativ(%0) : float32[2]\n",
    "another type": HEAD + "%1 = negative(%0) : float32[3]\n",
    "one type too many": HEAD + "%1 = negative(%0) : float32[2], float32[2]\n",
    "no type": HEAD + "%1 = negative(%0)\n",
    "an attribute too many": HEAD + "%1 = negative(%0, axis=1) : float32[2]\n",
    "an attribute too few": HEAD + "%1 = sum(%0, axis=(0,)) : float32[]\n",
    "an attribute twice": HEAD + "%1 = cast(%0, dtype=int8, dtype=int8) : int8[2]\n",
    "an attribute of another kind": HEAD + "%1 = sum(%0, axis=0, keepdims=False) : float32[]\n",
    "an operand after attributes": HEAD + "%1 = cast(dtype=int8, %0) : int8[2]\n",
    "text at the end": HEAD + "%1 = negative(%0) : float32[2] and more\n",
    "a name twice": HEAD + '%1 = negative(%0) : float32[2] name="a" name="b"\n',
    "a later node": HEAD + "%1 = negative(%0) : float32[2] after=(%1)\n",
    "no node": HEAD + "%1 = negative(%0) : float32[2] after=(@0)\n",
    "no site": HEAD + "%1 = negative(%0) : float32[2] site=1\n",
    "an open function": HEAD + 'function "f"() -> () {',
    "an open text": HEAD + '%1 = negative(%0) : float32[2] name="a\n',
    "an open array": "staticad 1\n%0 = constant(value=float32[2]{1.0, ",
    "an array too short": "staticad 1\n%0 = constant(value=float32[2]{1.0}) : float32[2]\n",
    "an array too large": "staticad 1\n%0 = constant(value=int8[99999999999]{1}) : int8[1]\n",
    "an array of other elements": "staticad 1\n%0 = constant(value=int8[1]{1.0}) : int8[1]\n",
    "an element out of range": "staticad 1\n%0 = constant(value=int8[1]{300}) : int8[1]\n",
    "an integer of many digits": HEAD + "%1 = sum(%0, axis=(" + "9" * 5000 + ",)) : int8[]\n",
    "deep nesting": HEAD + "%1 = sum(%0, axis=" + "(" * 5000 + "\n",
    "deep dimensions": HEAD + "%1 = sum(%0, axis=<" + "min(" * 200 + "\n",
    "code": HEAD + "%1 = sum(%0, axis=__import__('os'), keepdims=False) : float32[]\n",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_text_is_refused_with_its_line(what: str) -> None:
    number = WRONG[what].rstrip("\n").count("\n") + 1
    with pytest.raises(FormatError, match=rf"^line {number}\b"):
        from_text(WRONG[what])
