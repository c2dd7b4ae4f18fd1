"""Messages that are almost right: each is answered, or refused for a reason that was thought of."""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.inference import rest
from staticad_executor.inference.inferring import Inference
from staticad_executor.inference.repository import Batching, Repository
from staticad_executor.serving import transfer
from staticad_executor.serving.graphs import Packer
from staticad_executor.serving.limits import Gate, Limits
from staticad_executor.serving.models import Models
from staticad_executor.serving.service import Admission, Service
from staticad_schema import run_pb2 as pb

from .graphs import DATA, trainer
from .inference_clients import X, network, tensor


class Refused(Exception):  # noqa: N818
    """What `abort` raises in gRPC."""


class Context:
    """As much of gRPC's as the service asks for."""

    def add_callback(self, callback: object) -> bool:
        return True

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    def set_trailing_metadata(self, metadata: object) -> None:
        pass

    def abort(self, code: object, details: str) -> None:
        raise Refused(details)


class Asking:
    """A service in this process, and a right request of each kind."""

    def __init__(self) -> None:
        limits = Limits(call_bytes=1 << 20, graph_bytes=1 << 20, shared_bytes=1 << 20)
        self.service = Service(limits, Models(), None, Admission(""), "numpy")
        answers = self.service.answers()
        self.call, self.pieces = answers["Call"], answers["CallInPieces"]
        self.lease = answers["Open"](pb.OpenRequest(device="numpy", rewrites=["exact"]), Context())
        session = next(self.lease).session
        graph: sad.Graph = trainer()
        packed = Packer().packed(graph)
        base = {"session": session, "graph": packed.digest}
        choice = pb.Choice(
            values=[graph["loss"].id], effects=[graph.find("train")], fed=[graph["x"].id]
        )
        fed = transfer.inline([DATA])
        named = transfer.inline([np.zeros((6, 4), np.float32)], ["w"])
        look: dict[str, Any] = {"choice": choice, "sizes": {"n": 3}, "has_sizes": True, "repeat": 1}
        kinds: list[dict[str, Any]] = [
            {
                "extend": pb.Extend(constants=["x"]),
                "tensors": transfer.inline([packed.octets], [""]),
            },
            {"run": pb.Run(choice=choice, step=3), "tensors": fed},
            {"run": pb.Run(choice=choice, only_checked=True)},
            {"publish": pb.Publish(counters=pb.Counters(step=4)), "tensors": named},
            {"read": pb.Names(names=["w", "count"])},
            {"fetch": pb.Fetch(model="none")},
        ]
        kinds += [
            {"look": pb.Look(what=pb.Look.What.Name(what), **look), "tensors": fed}
            for what in (1, 2, 3)
        ]
        kinds += [{"state": pb.State(what=pb.State.What.Name(what))} for what in (1, 2, 3, 4)]
        self.requests = [pb.CallRequest(**base | parts) for parts in kinds]
        for request in self.requests[:1] + self.requests[1:5] + self.requests[6:]:
            self.call(request, Context())

    def ask(self, request: pb.CallRequest) -> None:
        """Answered, or refused, in both ways."""
        for send in (
            lambda: self.call(request, Context()),
            lambda: list(self.pieces(iter([pb.CallInPiecesRequest(call=request)]), Context())),
        ):
            with contextlib.suppress(Refused):
                send()


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking()


@settings(
    max_examples=400, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_mutated_requests(
    asking: Asking, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    octets = bytearray(data.draw(st.sampled_from(asking.requests)).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(len(octets) - 1, 0)))
        change = data.draw(st.sampled_from(["flip", "cut", "insert", "remove", "set"]))
        if change == "flip" and octets:
            octets[at] ^= 1 << data.draw(st.integers(0, 7))
        elif change == "set" and octets:
            octets[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
        elif change == "cut":
            del octets[at:]
        elif change == "remove":
            del octets[at : at + data.draw(st.integers(1, 9))]
        elif change == "insert":
            octets[at:at] = data.draw(st.binary(max_size=9))
    try:
        request = pb.CallRequest.FromString(bytes(octets))
    except DecodeError:
        return
    with caplog.at_level(logging.ERROR, "staticad.serving"):
        asking.ask(request)
    # What nobody has thought of is logged.
    assert [record.getMessage() for record in caplog.records] == []


@settings(
    max_examples=400, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_fields_of_any_value(
    asking: Asking, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    request = pb.CallRequest()
    request.CopyFrom(data.draw(st.sampled_from(asking.requests)))
    ids = st.integers(0, 60) | st.integers(0, (1 << 64) - 1)
    some = st.lists(ids, max_size=3)
    choice = pb.Choice(values=data.draw(some), effects=data.draw(some), fed=data.draw(some))
    tensors = [
        pb.Tensor(
            dtype=data.draw(st.sampled_from(["float32", "int64", "bool", "bfloat16", "complex64"])),
            shape=data.draw(st.lists(st.integers(0, 7) | ids, max_size=3)),
            name=data.draw(st.sampled_from(["", "w", "count", "x"])),
            data=data.draw(st.binary(max_size=64)),
        )
        for _ in range(data.draw(st.integers(0, 2)))
    ]
    what = data.draw(st.sampled_from(["choice", "tensors", "names", "sizes", "region"]))
    if what == "choice" and request.WhichOneof("asked") in ("run", "look"):
        getattr(request, request.WhichOneof("asked")).choice.CopyFrom(choice)
    elif what == "names":
        request.read.names.extend(data.draw(st.lists(st.text(max_size=5), max_size=3)))
    elif what == "sizes":
        seen = data.draw(st.sampled_from(pb.Look.What.keys()))
        request.look.MergeFrom(pb.Look(what=seen))
        request.look.sizes["n"] = data.draw(ids)
        request.look.repeat = data.draw(st.integers(0, 3))
    elif what == "region":
        request.region = data.draw(ids)
    else:
        del request.tensors[:]
        request.tensors.extend(tensors)
    with caplog.at_level(logging.ERROR, "staticad.serving"):
        asking.ask(request)
    assert [record.getMessage() for record in caplog.records] == []


@pytest.fixture(scope="module")
def inference(tmp_path_factory: pytest.TempPathFactory) -> Inference:
    path: Path = tmp_path_factory.mktemp("models") / "net.sad"
    network().save(path)
    limits = Limits(call_bytes=1 << 20)
    models = Models([path])
    repository = Repository(models, "numpy", Gate(limits), limits, Batching())
    return Inference(repository, limits)


LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 9) | st.integers() | st.floats()
    | st.sampled_from(["x", "y", "FP32", "INT64", "", "BOOL", "binary_data_size"])
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["name", "datatype", "shape", "data", "parameters", "inputs", "outputs",
                         "binary_data", "binary_data_size", "shared_memory_region"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(
    max_examples=600, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_json_of_any_value(inference: Inference, data: st.DataObject) -> None:
    wanted = {"name": "y", "parameters": {"binary_data": True}}
    document: dict[str, Any] = {"id": "1", "inputs": [tensor()], "outputs": [wanted]}
    place = data.draw(
        st.sampled_from(["whole", "id", "inputs", "outputs", "parameters", "an input", "a part"])
    )
    value = data.draw(VALUES)
    body: Any = document
    if place == "whole":
        body = value
    elif place == "an input":
        document["inputs"] = [value]
    elif place == "a part":
        key = data.draw(st.sampled_from(["name", "datatype", "shape", "data", "parameters"]))
        document["inputs"] = [tensor() | {key: value}]
    else:
        document[place] = value
    raw = data.draw(st.sampled_from([b"", X.tobytes(), b"123"]))
    head = json.dumps(body).encode()
    length = data.draw(st.sampled_from([None, str(len(head)), "0", "5", str(len(head) + 99)]))
    try:
        asked = rest.Asked(inference, "net", "", head + raw, length)
        answered = inference.infer(asked.request, inference.run())
        rest.answer(asked, answered)
    except sad.StaticadError:
        pass
