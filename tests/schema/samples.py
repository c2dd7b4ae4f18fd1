"""Graphs and values that the tests of files and text share."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from staticad_schema import (
    OPS,
    Function,
    FunctionRef,
    Graph,
    Node,
    Signature,
    Site,
    VariableSpec,
    symbol,
)
from staticad_schema.types import BFLOAT16, FLOAT32, FLOAT64, KINDS

Array = np.ndarray[Any, Any]

NAMES = [
    "concave points_mean",
    ",",
    "x:0",
    "_leading",
    "größe 形 🙂",
    "",
    "n" * 300,
    'quote " backslash \\',
    "two\nlines\r\t\x00\u2028",
    "%0 = add(%1)  name=",
]


def bits(dtype: str, *words: int) -> Array:
    """An array of the float dtype with these bits."""
    unsigned = {"bfloat16": "u2", "float16": "u2", "float32": "u4", "float64": "u8"}[dtype]
    words_array = np.array(words, unsigned)
    return words_array.view(BFLOAT16 if dtype == "bfloat16" else dtype)


ARRAYS: dict[str, Array] = {
    "nan_payloads_float16": bits("float16", 0x7E01, 0xFE12, 0x7C01),
    "nan_payloads_bfloat16": bits("bfloat16", 0x7FC1, 0xFFD2, 0x7F81),
    "nan_payloads_float32": bits("float32", 0x7FC00001, 0xFFC12345, 0x7F800001),
    "nan_payloads_float64": bits("float64", 0x7FF8000000000001, 0xFFF8123456789ABC),
    "nan_payloads_complex64": bits("float32", 0x7FC00001, 0, 0x80000000, 0xFF812345).view("c8"),
    "minus_zero": np.array([-0.0, 0.0]),
    "subnormals": np.array([1e-45, -1e-45], np.float32),
    "infinities": np.array([np.inf, -np.inf], np.float16),
    "bfloat16": np.array([0.25, 0.5, 1, 2], BFLOAT16),
    "complex128": np.array([[1 - 2j, complex(-0.0, np.inf)]]),
    "zero_size": np.zeros((0, 3), np.int16),
    "zero_size_huge": np.zeros((0, 1 << 40), np.int8),
    "scalar": np.array(1.5, np.float32),
    "scalar_bool": np.array(True),
    "int64_min": np.full((2,), np.iinfo(np.int64).min),
    "uint64_max": np.array(np.iinfo(np.uint64).max),
    "large": np.arange(1000, dtype=np.float32),
    "large_bool": np.arange(100) % 3 == 0,
    "large_complex64": np.arange(100).astype(np.complex64) * 1j,
    **{f"each_{d.name}": np.array([0, 1], d) for d in KINDS},
}


def same(a: Array, b: Array) -> bool:
    """Equal dtype, shape and bits."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def add(graph: Graph, name: str, *inputs: int, **attributes: Any) -> int:
    """Append an op; the id of its first output."""
    return graph.append(OPS[name], inputs, attributes).start


def placeholder(graph: Graph, *shape: Any, name: str | None = None) -> int:
    """A float32 placeholder."""
    attributes = {"dtype": FLOAT32, "shape": shape}
    return graph.append(OPS["placeholder"], (), attributes, name=name).start


def small() -> Graph:
    """A few nodes, of which one constant can go to a sidecar."""
    graph = Graph(seed=1)
    x = placeholder(graph, symbol("n"), 4, name="x")
    weights = graph.constant(np.arange(4, dtype=np.float32)).id
    graph.append(
        OPS["multiply"], (x, weights), name="y", site=graph.intern_site(Site("a/b.py", 3, "build"))
    )
    return graph


def everything(arrays: Mapping[str, Array] = ARRAYS) -> Graph:
    """One of each thing that a file holds, and constants."""
    graph = Graph(seed=-7)
    batch = symbol("batch")
    sites = [graph.intern_site(Site("models/größe.py", line, "build")) for line in (3, 4)]
    x = placeholder(graph, batch, 4, name="x:0")
    for array in arrays.values():
        graph.constant(array)
    body = Graph(seed=-7)
    p = add(body, "parameter", index=0, dtype=FLOAT32, shape=(symbol("rows"), 4))
    q = add(body, "negative", p)
    graph.add_function(Function("body", body, (p,), (q, p)))
    initial = graph.constant(np.ones((4,), np.float32)).id
    read = graph.append(
        OPS["variable"],
        (),
        {"variable": "w", "dtype": FLOAT32, "shape": (4,)},
        name="w",
    )
    graph.add_variable(VariableSpec("w", graph.types[initial], initial, True, len(graph.nodes) - 1))
    product = graph.append(OPS["multiply"], (x, read.start), name="layer/y", site=sites[0])
    node = Node(
        **{
            **product._asdict(),
            "op": "add",
            "start": len(graph.types),
            "name": None,
            "scope": "layer",
            "device": "numpy",
            "site": sites[1],
            "forward_site": sites[0],
            "after": (0, len(graph.nodes) - 1),
        }
    )
    graph.append_trusted(node)
    called = graph.append(OPS["call"], (x,), _call_attributes("body")).start
    add(graph, "slice", called, slices=((None, None, -1), (1, batch + 1, 2)))
    add(
        graph,
        "pad",
        called,
        widths=((0, 0), (1, 2)),
        value=float(bits("float64", 0x7FF8000000000005)[0]),
    )
    add(graph, "print", called, message='say \u2028 "it"', summarize=3)
    total = add(graph, "sum", called, axis=(0,), keepdims=False)
    add(graph, "cast", total, dtype=FLOAT64)
    write = graph.append(OPS["assign_sub"], (total,), {"variable": "w"})
    effect = graph.append(OPS["group"], (), {}, after=(len(graph.nodes) - 1,), name="train")
    assert effect.types == ()
    graph.signatures["train"] = Signature(
        "train", {"x": x}, {"new": write.start, "é": total}, (len(graph.nodes) - 1,)
    )
    graph.signatures[""] = Signature("", {}, {})
    return graph


def _call_attributes(name: str) -> dict[str, Any]:
    """`call` of a body, with the defaults of whatever else it has."""
    return OPS["call"].attributes({"function": FunctionRef(name)})


def nested(depth: int) -> Graph:
    """Bodies that call one another, `depth` of them."""
    graph = Graph()
    for k in range(depth):
        body = Graph()
        body.functions = graph.functions
        value = add(body, "parameter", index=0, dtype=FLOAT32, shape=())
        if k:
            value = body.append(OPS["call"], (value,), _call_attributes(f"f{k - 1}")).start
        graph.add_function(Function(f"f{k}", body, (0,), (add(body, "negative", value),)))
    graph.append(OPS["call"], (placeholder(graph),), _call_attributes(f"f{depth - 1}"))
    return graph


def chain(length: int) -> Graph:
    """A chain of elementwise nodes."""
    graph = Graph()
    value = placeholder(graph, 8)
    for _ in range(length):
        value = add(graph, "negative", value)
    return graph


def assert_same_graph(a: Graph, b: Graph) -> None:
    """Everything that a file holds is equal, arrays bit for bit."""
    assert a.seed == b.seed
    assert list(a.functions) == list(b.functions)
    for name, function in a.functions.items():
        other = b.functions[name]
        assert (function.inputs, function.outputs) == (other.inputs, other.outputs)
        _assert_same_nodes(function.body, other.body)
    assert a.variable_specs == b.variable_specs
    assert list(a.signatures.items()) == list(b.signatures.items())
    for signature in a.signatures.values():
        assert list(signature.outputs) == list(b.signatures[signature.name].outputs)
    _assert_same_nodes(a, b)


def _assert_same_nodes(a: Graph, b: Graph) -> None:
    assert a.sites == b.sites
    assert (a.types, a.producers) == (b.types, b.producers)
    assert len(a.nodes) == len(b.nodes)
    for node, other in zip(a.nodes, b.nodes, strict=True):
        assert node._replace(attributes={}) == other._replace(attributes={})
        assert list(node.attributes) == list(other.attributes)
        for value, found in zip(node.attributes.values(), other.attributes.values(), strict=True):
            if isinstance(value, np.ndarray):
                assert same(value, found)
            else:
                assert type(value) is type(found)
                assert repr(value) == repr(found)
