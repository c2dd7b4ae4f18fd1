"""Requests and answers of the protocol's HTTP form: JSON, and raw tensors behind it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from staticad_schema.errors import FeedTypeError, FormatError, PlanError
from staticad_schema.tensors import octets_of
from staticad_schema.types import KINDS, Array

from .datatypes import checked_type, from_numbers, from_raw
from .inferring import OFFSET, REGION, SIZE, Answered, Inference, Request, place_of

BINARY = "binary_data"
BINARY_SIZE = "binary_data_size"
BINARY_OUTPUT = "binary_data_output"


class Asked:
    """A request's body: the request, and which outputs are to be raw."""

    def __init__(
        self, inference: Inference, model: str, version: str, body: bytes, header: str | None
    ) -> None:
        """header: the length of the JSON, if raw tensors follow.  Raises StaticadError."""
        length = _length(header, len(body))
        document = parsed(body[:length])
        self.request = Request(model, version, _text(document, "id"))
        self._raw = memoryview(body)[length:]
        parameters = _object(document.get("parameters", {}), "parameters")
        self._raw_by_default = parameters.get(BINARY_OUTPUT, False) is True
        self._raw_outputs: dict[str, bool] = {}
        self._read_inputs(inference, _list(document.get("inputs"), "inputs"))
        for entry in _list(document.get("outputs", []), "outputs"):
            self._read_output(_object(entry, "an output"))

    def is_raw(self, output: str) -> bool:
        """Whether an output is to follow the JSON."""
        return self._raw_outputs.get(output, self._raw_by_default)

    def _read_inputs(self, inference: Inference, entries: list[Any]) -> None:
        tensors = [_object(entry, "an input") for entry in entries]
        names = [_text(tensor, "name") for tensor in tensors]
        types = [
            checked_type(name, tensor.get("datatype"), _list(tensor.get("shape"), "shape"))
            for name, tensor in zip(names, tensors, strict=True)
        ]
        inference.check_size(types)
        at = 0
        for name, tensor, (dtype, shape) in zip(names, tensors, types, strict=True):
            what = f"input {name!r}"
            if name in self.request.inputs:
                raise PlanError("an input is given twice", asked=what, expected="one")
            parameters = _object(tensor.get("parameters", {}), "parameters")
            place = place_of(parameters, what)
            size = parameters.get(BINARY_SIZE)
            if place is not None:
                array = inference.shared_input(name, place, dtype, shape)
            elif size is not None:
                if type(size) is not int or not 0 <= size <= len(self._raw) - at:
                    raise FormatError(
                        "the raw tensor is not there",
                        asked=what,
                        expected=f"{BINARY_SIZE} of at most {len(self._raw) - at}",
                        found=repr(size)[:50],
                    )
                array = from_raw(name, self._raw[at : at + size], dtype, shape)
                at += size
            elif "data" in tensor:
                array = from_numbers(name, tensor["data"], dtype, shape)
            else:
                raise FormatError("the input has no data", asked=what, expected="data")
            self.request.inputs[name] = array
        if at != len(self._raw):
            raise FormatError(
                "there is more raw data than inputs take",
                asked="infer",
                expected=f"{at} bytes behind the JSON",
                found=str(len(self._raw)),
            )

    def _read_output(self, entry: dict[str, Any]) -> None:
        name = _text(entry, "name")
        parameters = _object(entry.get("parameters", {}), "parameters")
        if "classification" in parameters:
            raise PlanError(
                "classification is not offered", asked=f"output {name!r}", expected="the output"
            )
        self.request.outputs[name] = place_of(parameters, f"output {name!r}")
        if BINARY in parameters:
            self._raw_outputs[name] = parameters[BINARY] is True


def answer(asked: Asked, answered: Answered) -> tuple[bytes, bytes]:
    """The JSON of an answer, and the raw tensors behind it."""
    outputs, raw = [], []
    for name, array in answered.outputs.items():
        entry: dict[str, Any] = {
            "name": name,
            "datatype": answered.model.outputs[name].datatype,
            "shape": list(array.shape),
        }
        place = answered.places.get(name)
        if place is not None:
            entry["parameters"] = {
                REGION: place.region, OFFSET: place.offset, SIZE: array.nbytes,
            }  # fmt: skip
        elif asked.is_raw(name):
            entry["parameters"] = {BINARY_SIZE: array.nbytes}
            raw.append(octets_of(array).tobytes())
        else:
            entry["data"] = _numbers(name, array)
        outputs.append(entry)
    document: dict[str, Any] = {
        "model_name": answered.model.name, "model_version": answered.version, "outputs": outputs,
    }  # fmt: skip
    if asked.request.id:
        document["id"] = asked.request.id
    return json.dumps(document).encode(), b"".join(raw)


def parsed(body: bytes) -> dict[str, Any]:
    """A JSON object; an empty body is an empty one.  Raises FormatError."""
    if not body.strip():
        return {}
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            "the body is no JSON", asked="a request", expected="an object", found=str(error)[:200]
        ) from None
    return _object(document, "the body")


def _length(header: str | None, size: int) -> int:
    if header is None:
        return size
    if not (header.isascii() and header.isdecimal() and len(header) < 20 and int(header) <= size):
        raise FormatError(
            "not the length of the JSON in the body",
            asked="Inference-Header-Content-Length",
            expected=f"a number up to {size}",
            found=repr(header)[:50],
        )
    return int(header)


def _numbers(name: str, array: Array) -> list[Any]:
    flat = array.reshape(-1)
    if KINDS[array.dtype] == "float":
        flat = flat.astype(np.float64)
        if not np.isfinite(flat).all():
            raise PlanError(
                "JSON has no NaN and no infinities",
                asked=f"output {name!r}",
                expected="finite numbers",
                found="others",
                hint=f"ask for raw data: {BINARY_OUTPUT}",
            )
        if array.dtype.itemsize < 8:
            # The shortest numbers that mean these, not those of their float64 twins.
            return [float(str(number)) for number in array.reshape(-1)]
    numbers: list[Any] = flat.tolist()
    return numbers


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FeedTypeError(
            f"{what}: not an object", asked="a request", expected="{…}", found=repr(value)[:80]
        )
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise FeedTypeError(
            f"{what}: not a list", asked="a request", expected="[…]", found=repr(value)[:80]
        )
    return value


def _text(document: dict[str, Any], key: str) -> str:
    value = document.get(key, "")
    if not isinstance(value, str):
        raise FeedTypeError(
            f"{key}: not a text", asked="a request", expected='"…"', found=repr(value)[:80]
        )
    return value
