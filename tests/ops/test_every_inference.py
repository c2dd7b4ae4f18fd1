"""Types and attributes that fit no op: inference says so at once, in our words."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest

from staticad_schema import StaticadError
from staticad_schema.attributes import conforms
from staticad_schema.dims import Dim, Size, symbol
from staticad_schema.op import Op
from staticad_schema.types import KINDS, TensorType

from .every import names, samples
from .running import symbolic, types_of

HUGE = 1 << 60
SIZES: tuple[Size, ...] = (0, 1, 7, HUGE, symbol("n"))


def other_type(random: Random, type_: TensorType) -> TensorType:
    """The type with another dtype, rank or size."""
    shape: list[Size] = list(type_.shape)
    at = random.randrange(len(shape) + 1)
    match random.randrange(5):
        case 0:
            return TensorType(random.choice(list(KINDS)), type_.shape)
        case 1:
            shape = shape[:at] + shape[at + 1 :]
        case 2:
            shape.insert(at, random.choice(SIZES))
        case 3:
            shape[at : at + 1] = [random.choice(SIZES)]
        case _:
            shape = []
    return type_.with_shape(shape)


def other_value(random: Random, value: Any) -> Any:
    """The attribute with something changed in it."""
    match value:
        case bool():
            return not value
        case int():
            return random.choice([value + 1, value - 1, -value, 0, HUGE, -HUGE])
        case float():
            return random.choice([float("nan"), float("inf"), -value, 1e308])
        case tuple():
            at = random.randrange(len(value) + 1)
            if random.random() < 0.5 or at == len(value):
                return random.choice([value[:-1], value + value[-1:], ()])
            return (*value[:at], other_value(random, value[at]), *value[at + 1 :])
        case Dim():
            return random.choice([value + 1, 3])
    return value


def attempts(random: Random, name: str) -> Any:
    """The op, types and attributes of its samples with one or two changes, of the right kinds."""
    found = list(samples(name))
    for _ in range(60):
        definition, sample = random.choice(found)
        types = list(types_of(sample.arrays))
        if random.random() < 0.4:
            types = list(symbolic(types))
        attributes = dict(definition.attributes(sample.attributes))
        for _ in range(random.randrange(1, 3)):
            if attributes and (not types or random.random() < 0.5):
                changed = random.choice(list(attributes))
                attributes[changed] = other_value(random, attributes[changed])
            elif types:
                at = random.randrange(len(types))
                types[at] = other_type(random, types[at])
        if admitted(definition, attributes):
            yield definition, types, attributes


def admitted(definition: Op, attributes: dict[str, Any]) -> bool:
    return all(conforms(attributes[p.name], p.annotation) for p in definition.parameters.values())


@pytest.mark.parametrize("name", names())
def test_what_does_not_fit_is_an_error_of_ours(name: str) -> None:
    start = time.process_time()
    for definition, types, attributes in attempts(Random(name), name):
        try:
            definition.output_types(types, attributes)
        except StaticadError:
            continue
        except Exception as error:
            raise AssertionError(f"{types}, {attributes}") from error
    assert time.process_time() - start < 1
