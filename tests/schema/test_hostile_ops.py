"""Files of every op, damaged: what any file may say of an op costs no time and no memory."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from staticad_schema import FormatError, Graph, decode, encode, from_text, to_text
from staticad_schema.graph_pb2 import File, Value
from staticad_schema.graph_pb2 import Graph as GraphMessage
from tests.ops.every import names, samples
from tests.ops.running import Applied
from tests.schema.test_hostile import framed, modest, within_a_second

HUGE = (1 << 28, 1 << 60, (1 << 63) - 1, -1, -(1 << 60))
FEW = 2
"""Samples of an op that are damaged."""


def applied(name: str) -> Iterator[Graph]:
    """The graphs of some of an op's samples, also with symbolic sizes."""
    found = list(samples(name))
    for definition, sample in found[:: max(len(found) // FEW, 1)]:
        yield Applied(definition, sample).graph


def numbers(values: list[Value]) -> Iterator[Value]:
    """Every integer in attributes."""
    for value in values:
        if value.WhichOneof("kind") == "integer":
            yield value
        elif value.WhichOneof("kind") == "list":
            yield from numbers(list(value.list.values))


def with_huge_numbers(message: GraphMessage) -> Iterator[None]:
    """The message changed in place: one integer of an attribute at a time, then all sizes."""
    attributes = [a.value for use in message.applications for a in use.attributes]
    for value in numbers(attributes):
        kept = value.integer
        for value.integer in HUGE:
            yield
        value.integer = kept
    for size in HUGE[:3]:
        for type_ in message.types:
            type_.shape[:] = [size if s >= 2 else s for s in type_.shape]
        yield


@pytest.mark.parametrize("name", names())
def test_huge_numbers_are_refused_or_load(name: str) -> None:
    for graph in applied(name):
        file = File.FromString(encode(graph))
        message = GraphMessage.FromString(file.graph)
        with modest():
            for _ in with_huge_numbers(message):
                load_or_refuse(framed(message.SerializeToString(), file.node_count))


@pytest.mark.parametrize("name", names())
def test_bit_flips_are_refused_or_load(name: str) -> None:
    generator = random.Random(name)
    for graph in applied(name):
        file = File.FromString(encode(graph))
        with modest():
            for bit in generator.sample(range(8 * len(file.graph)), 40):
                changed = bytearray(file.graph)
                changed[bit // 8] ^= 1 << bit % 8
                load_or_refuse(framed(bytes(changed), file.node_count))


def load_or_refuse(data: bytes) -> None:
    """What loads can be saved, and is then the same; so it is as text."""
    with within_a_second():
        try:
            graph = decode(data)
        except FormatError:
            return
    assert encode(decode(encode(graph))) == encode(graph)
    assert to_text(from_text(to_text(graph))) == to_text(graph)
