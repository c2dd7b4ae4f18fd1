"""What is damaged or made up is a FormatError: no crash, no hang, no large allocation."""

import hashlib
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from staticad_schema import FormatError, Graph, decode, encode, from_text, load, save, to_text
from staticad_schema.codec import header
from staticad_schema.graph_pb2 import File
from staticad_schema.graph_pb2 import Graph as GraphMessage
from staticad_schema.sidecar import file_name
from tests.schema import samples
from tests.schema.samples import ARRAYS


@contextmanager
def modest() -> Iterator[None]:
    """A block that stays below 100 MB."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def truncations(data: bytes) -> Iterator[bytes]:
    return (data[:length] for length in range(len(data)))


def flips(data: bytes) -> Iterator[bytes]:
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


@contextmanager
def within_a_second() -> Iterator[None]:
    """A block that is done soon."""
    start = time.process_time()
    yield
    assert time.process_time() - start < 1


def refused(load: Callable[[], object]) -> None:
    """`load` raises FormatError, soon."""
    with within_a_second(), pytest.raises(FormatError):
        load()


@pytest.mark.parametrize("damage", [truncations, flips])
def test_every_truncation_and_bit_flip_of_a_file(
    damage: Callable[[bytes], Iterator[bytes]],
) -> None:
    data = encode(samples.small())
    decode(data)
    with modest():
        for changed in damage(data):
            refused(lambda changed=changed: decode(changed))  # type: ignore[misc]


@pytest.mark.parametrize("damage", [truncations, flips])
def test_every_truncation_and_bit_flip_of_a_sidecar(
    damage: Callable[[bytes], Iterator[bytes]], tmp_path: Path
) -> None:
    save(samples.small(), tmp_path / "g.sad", external=0)
    (sidecar,) = tmp_path.glob("*.safetensors")
    data = sidecar.read_bytes()
    load(tmp_path / "g.sad")
    with modest():
        for changed in damage(data):
            sidecar.write_bytes(changed)
            refused(lambda: load(tmp_path / "g.sad"))


@pytest.mark.parametrize("extra", [b"\0", b"\x28\x01", b"\x08\x01"])
def test_a_file_has_no_more_than_its_message(extra: bytes) -> None:
    data = encode(samples.small())
    refused(lambda: decode(data + extra))
    refused(lambda: decode(extra + data))


def framed(graph: bytes, node_count: int) -> bytes:
    """A file around any bytes, with the right checksum."""
    return header(node_count, graph) + graph


def test_a_bit_flip_with_a_right_checksum_loads_or_is_refused() -> None:
    file = File.FromString(encode(samples.everything({"bool": ARRAYS["each_bool"]})))
    generator = random.Random(0)
    for bit in generator.sample(range(8 * len(file.graph)), 1000):
        changed = bytearray(file.graph)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            graph = decode(framed(bytes(changed), file.node_count))
        except FormatError:
            continue
        assert_writable(graph)


def assert_writable(graph: Graph) -> None:
    """What loads can be saved, and is then the same."""
    assert encode(decode(encode(graph))) == encode(graph)


def changed(change: Callable[[GraphMessage], object]) -> bytes:
    """The file of everything after a change to its message."""
    file = File.FromString(encode(samples.everything()))
    message = GraphMessage.FromString(file.graph)
    change(message)
    data = message.SerializeToString()
    return framed(data, file.node_count)


def first(message: GraphMessage, op: str) -> int:
    """The first application of an op."""
    return next(k for k, a in enumerate(message.applications) if message.strings[a.op] == op)


def set_application(op: str, field: str, value: int) -> Callable[[GraphMessage], None]:
    return lambda m: setattr(m.applications[first(m, op)], field, value)


def set_attribute(op: str, position: int, field: str, value: object) -> Callable[..., None]:
    def change(message: GraphMessage) -> None:
        attribute = message.applications[first(message, op)].attributes[position]
        setattr(attribute.value, field, value)

    return change


def nest(message: GraphMessage) -> None:
    value = message.applications[first(message, "pad")].attributes[1].value
    for _ in range(30):
        value = value.list.values.add()
    value.integer = 1


def deep_dim(message: GraphMessage) -> None:
    message.dims[0] = "min(" * 90 + "a" + ", 2)" * 90


def wide_dim(message: GraphMessage) -> None:
    message.dims[0] = "*".join(f"floordiv(a + b + c{k} + d, 1)**90" for k in range(20))


def double_site(message: GraphMessage) -> None:
    main = message.main
    for column in (main.site_files, main.site_lines, main.site_functions):
        column.append(column[0])


CHANGES: dict[str, Callable[[GraphMessage], object]] = {
    "an unknown op": lambda m: m.strings.__setitem__(list(m.strings).index("negative"), "negativ"),
    "an op that is no string": set_application("negative", "op", 1 << 31),
    "too many operands": set_application("negative", "input_count", 2),
    "operands beyond all": set_application("negative", "input_count", 0xFFFFFFFF),
    "a type that is no type": lambda m: m.applications[0].types.append(10_000),
    "another type": lambda m: setattr(m.types[0], "dtype", 13),
    "no dtype": lambda m: setattr(m.types[0], "dtype", 0),
    "an unknown dtype": lambda m: setattr(m.types[0], "dtype", 99),
    "a dimension beyond the table": lambda m: m.types[0].shape.append(-100),
    "a rank beyond NumPy's": lambda m: m.types[0].shape.extend([1] * 65),
    "a missing attribute": lambda m: m.applications[first(m, "sum")].attributes.pop(),
    "an attribute twice": lambda m: m.applications[first(m, "sum")].attributes.append(
        m.applications[first(m, "sum")].attributes[0]
    ),
    "an attribute of another kind": set_attribute("sum", 1, "integer", 1),
    "an attribute without value": lambda m: (
        m.applications[first(m, "sum")].attributes[1].ClearField("value")
    ),
    "an axis of bool": lambda m: setattr(
        m.applications[first(m, "sum")].attributes[0].value.list.values[0], "boolean", False
    ),
    "an axis that is not there": lambda m: setattr(
        m.applications[first(m, "sum")].attributes[0].value.list.values[0], "integer", 7
    ),
    "a function that is not there": set_attribute("call", 0, "function", 9),
    "a path of calls that is negative": set_attribute("call", 1, "integer", -1),
    "a path of calls of 33 bits": set_attribute("call", 1, "integer", 1 << 32),
    "a variable that is not there": set_attribute("assign_sub", 0, "text", "v"),
    "values nested deeply": nest,
    "a dimension nested deeply": deep_dim,
    "a dimension that multiplies out": wide_dim,
    "a dimension that is a number": lambda m: m.dims.__setitem__(0, "1 + 1"),
    "a dimension that is nothing": lambda m: m.dims.__setitem__(0, ""),
    "a constant longer than its shape": lambda m: (
        m.applications[first(m, "constant")].attributes[0].value.array.shape.append(1 << 62)
    ),
    "a bool that is two": lambda m: setattr(
        m.applications[bool_constant(m)].attributes[0].value.array, "data", b"\x02"
    ),
    "an external constant without sidecar": lambda m: setattr(
        m.applications[first(m, "constant")].attributes[0].value.array, "external", "0"
    ),
    "an application beyond the table": lambda m: m.main.applications.append(9999),
    "one node more": lambda m: m.main.applications.append(0),
    "one input more": lambda m: m.main.inputs.append(1),
    "an input that comes later": lambda m: m.main.inputs.__setitem__(0, 0),
    "an input before the first": lambda m: m.main.inputs.__setitem__(0, 999),
    "a column that is too short": lambda m: m.main.sites.pop(),
    "a site beyond the table": lambda m: m.main.sites.__setitem__(0, 99),
    "a site twice": double_site,
    "sites without lines": lambda m: m.main.ClearField("site_lines"),
    "a scope beyond the table": lambda m: m.main.scopes.__setitem__(0, 9999),
    "a device beyond the table": lambda m: m.main.devices.__setitem__(0, 9999),
    "names in the wrong order": lambda m: m.main.named_nodes.__setitem__(1, 0),
    "a name beyond the table": lambda m: m.main.names.__setitem__(0, 9999),
    "a name missing": lambda m: m.main.names.pop(),
    "a name twice": lambda m: m.main.names.__setitem__(0, m.main.names[1]),
    "a dependency on what comes later": lambda m: m.main.after.__setitem__(0, 0),
    "a dependency before the first": lambda m: m.main.after.__setitem__(0, 9999),
    "more dependencies than counted": lambda m: m.main.after.append(1),
    "no dependency where one is counted": lambda m: m.main.after_counts.__setitem__(0, 0),
    "a function twice": lambda m: m.functions.add(name="body"),
    "a function's input that is none": lambda m: m.functions[0].inputs.__setitem__(0, 1),
    "a function's output beyond its values": lambda m: m.functions[0].outputs.append(99),
    "a function that calls itself": lambda m: m.functions[0].body.applications.__setitem__(
        1, first(m, "call")
    ),
    "a function that writes": lambda m: m.functions[0].body.applications.__setitem__(
        1, first(m, "assign_sub")
    ),
    "a variable twice": lambda m: m.variables.append(m.variables[0]),
    "a variable's initial value beyond all": lambda m: setattr(m.variables[0], "initial", 9999),
    "a variable's initial value of another shape": lambda m: setattr(m.variables[0], "initial", 0),
    "a variable's node beyond all": lambda m: setattr(m.variables[0], "node", 9999),
    "a variable's node of another kind": lambda m: setattr(m.variables[0], "node", 0),
    "a variable's type beyond all": lambda m: setattr(m.variables[0], "type", 9999),
    "a signature twice": lambda m: m.signatures.append(m.signatures[0]),
    "a signature's value beyond all": lambda m: setattr(m.signatures[0].inputs[0], "value", 9999),
    "a signature's key twice": lambda m: m.signatures[0].inputs.append(m.signatures[0].inputs[0]),
    "a signature's effect beyond all": lambda m: m.signatures[0].effects.append(9999),
    "a seed that is text": lambda m: setattr(m.seed, "text", "0"),
    "a sidecar in another folder": lambda m: setattr(m.sidecar, "file", "../secret"),
}


def bool_constant(message: GraphMessage) -> int:
    return next(
        k
        for k, a in enumerate(message.applications)
        if a.attributes and a.attributes[0].value.array.dtype == 1
        if len(a.attributes[0].value.array.data) == 1
    )


@pytest.mark.parametrize("what", CHANGES)
def test_a_made_up_message_is_refused(what: str, tmp_path: Path) -> None:
    data = changed(CHANGES[what])
    assert data != encode(samples.everything())
    with modest():
        refused(lambda: decode(data))
        refused(lambda: decode(data, folder=tmp_path))


def test_the_error_names_the_node_and_the_users_line() -> None:
    graph = samples.small()
    graph.nodes[-1] = graph.nodes[-1]._replace(types=(graph.types[1],))
    with pytest.raises(FormatError) as caught:
        decode(encode(graph))
    message = str(caught.value)
    assert "multiply 'y'" in message
    assert "float32[n, 4]" in message
    assert "float32[4]" in message
    assert "a/b.py:3, in build" in message


def test_ranks_cannot_grow_without_end() -> None:
    """`take` adds ranks: a chain of it doubles them at each node."""
    graph = Graph()
    x = samples.add(graph, "iota", shape=(1, 1), axis=0, dtype=np.dtype(np.int64))
    for _ in range(4):
        x = samples.add(graph, "take", x, x, axis=0)
    with modest():
        decode(encode(graph))
        for _ in range(3):
            x = samples.add(graph, "take", x, x, axis=0)
        refused(lambda: decode(encode(graph)))


def sidecar_of(header: bytes, data: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + data


HEADERS = {
    "no JSON": (b"{", b""),
    "no object": (b"[]", b""),
    "no entry": (b'{"0":1}', b""),
    "a bool for a size": (b'{"0":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}}', b"x"),
    "a negative offset": (b'{"0":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}}', b"x"),
    "an overlap": (
        b'{"0":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
        b'"1":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        b"x",
    ),
    "a tensor beyond the end": (
        b'{"0":{"dtype":"U8","shape":[9999999999],"data_offsets":[0,9999999999]}}',
        b"x",
    ),
    "bytes of no tensor": (b"{}", b"x"),
    "an unknown dtype": (b'{"0":{"dtype":"X","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "another dtype": (b'{"0":{"dtype":"U8","shape":[16],"data_offsets":[0,16]}}', b"x" * 16),
    "another name": (b'{"1":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}', b"x" * 16),
    "nesting": (b'{"0":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b""),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_made_up_sidecar_is_refused(what: str, tmp_path: Path) -> None:
    """Even when its checksum and its name are right."""
    install(tmp_path, sidecar_of(*HEADERS[what]))
    with modest():
        refused(lambda: load(tmp_path / "g.sad"))


def install(folder: Path, data: bytes) -> None:
    """Put a file and this sidecar, rightly named and summed, into the folder."""
    save(samples.small(), folder / "g.sad", external=0)
    file = File.FromString((folder / "g.sad").read_bytes())
    message = GraphMessage.FromString(file.graph)
    message.sidecar.sha256 = hashlib.sha256(data).digest()
    message.sidecar.size = len(data)
    message.sidecar.file = file_name(message.sidecar.sha256)
    (folder / message.sidecar.file).write_bytes(data)
    (folder / "g.sad").write_bytes(framed(message.SerializeToString(), file.node_count))


def test_a_right_sidecar_by_the_same_hand_loads(tmp_path: Path) -> None:
    header = b'{"0":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'
    install(tmp_path, sidecar_of(header, np.arange(4, dtype="<f4").tobytes()))
    assert encode(load(tmp_path / "g.sad")) == encode(samples.small())


def test_a_truncated_text_loads_or_is_refused() -> None:
    text = to_text(samples.everything({"bool": ARRAYS["each_bool"]}))
    with modest():
        for length in range(0, len(text), 11):
            read_or_refuse(text[:length])


def test_changed_text_loads_or_is_refused() -> None:
    text = to_text(samples.everything({k: ARRAYS[k] for k in list(ARRAYS)[3:6]}))
    generator = random.Random(0)
    for _ in range(1000):
        at = generator.randrange(len(text))
        character = generator.choice(text + "²\ud800\x00-9")
        read_or_refuse(text[:at] + character + text[at + generator.randrange(2) :])


def read_or_refuse(text: str) -> None:
    try:
        graph = from_text(text)
    except FormatError:
        return
    assert to_text(from_text(to_text(graph))) == to_text(graph)
