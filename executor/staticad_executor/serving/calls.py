"""What a session is asked, answered: messages in, what they ask of the session's runner, messages
out.

Ids and arrays from elsewhere are checked against the graph here; the runner trusts its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from staticad_schema import run_pb2 as pb
from staticad_schema.errors import FeedTypeError, PlanError
from staticad_schema.graph import Graph
from staticad_schema.types import Array

from ..engine import Prepared
from ..local import Local
from ..options import checked_repeat
from ..state import Snapshot
from .checkpoints import Folder
from .limits import Gate, Run
from .measured import memory_message, profile_message
from .models import Models
from .sessions import Served

Send = Callable[[Sequence[Array], Sequence[str]], None]
"""Takes arrays, and their names if they have some, to the caller; where that cannot be, it raises,
and a run changes nothing."""


class Context(NamedTuple):
    """What answers need beside the session."""

    gate: Gate
    models: Models
    folder: Folder | None


def answer(
    context: Context,
    session: Served,
    request: pb.CallRequest,
    arrays: list[Array],
    run: Run,
    response: pb.CallResponse,
    send: Send,
) -> None:
    """Fill in the response.  Raises StaticadError."""
    asked = request.WhichOneof("asked")
    if asked == "run":
        _run(context, session.local(request.graph), request.run, arrays, run, send)
    elif asked == "extend":
        _extend(context, session, request, arrays, response)
    elif asked == "fetch":
        packed = context.models.packed(request.fetch.model)
        send([packed.octets, *packed.constants.values()], ["", *packed.constants])
    elif asked == "look":
        _look(context, session.local(request.graph), request.look, arrays, run, response, send)
    elif asked == "read":
        variables = session.local(request.graph).variables
        names = [variables.name(name) for name in request.read.names]
        held = variables.ready(tuple(names))
        send([held.arrays[name] for name in names], names)
    elif asked == "publish":
        _publish(session.local(request.graph), request, arrays)
    elif asked == "state":
        _state(session.local(request.graph), request.state.what, response, send)
    else:
        raise PlanError("nothing is asked", asked="a call", expected="one of its fields")


def _run(
    context: Context, local: Local, asked: pb.Run, arrays: list[Array], run: Run, send: Send
) -> None:
    prepared = _prepared(local.graph, asked.choice)
    engine = local.engine(prepared)
    if asked.only_checked:
        return
    _check_feeds(local.graph, prepared, arrays)
    step = asked.step if asked.HasField("step") else None
    with context.gate.entered(run):
        local.execute(engine, arrays, step, lambda values: send(values, ()), cancel=run.cancel)


def _prepared(graph: Graph, choice: pb.Choice) -> Prepared:
    """The ids of a choice.  Raises PlanError for one that the graph does not have."""
    values, effects, fed = tuple(choice.values), tuple(choice.effects), tuple(choice.fed)
    count = len(graph.types)
    for ids, limit in ((values, count), (fed, count), (effects, len(graph.nodes))):
        if len(set(ids)) != len(ids) or max(ids, default=-1) >= limit:
            raise PlanError(
                "these are no ids of the graph",
                asked="run",
                expected=f"different numbers below {limit}",
                found=str(ids)[:100],
            )
    if any(graph.nodes[index].types for index in effects):
        raise PlanError("a node with values is no effect", asked="run", found=str(effects)[:100])
    return Prepared(values, effects, fed)


def _check_feeds(graph: Graph, prepared: Prepared, arrays: list[Array]) -> None:
    """Raises FeedTypeError for arrays of another number or dtype; shapes are bound by the run."""
    expected = [graph.types[value].dtype for value in prepared.fed]
    if [a.dtype for a in arrays] != expected:
        raise FeedTypeError(
            "what is fed is of another dtype",
            asked="run",
            expected=", ".join(d.name for d in expected)[:200],
            found=", ".join(a.dtype.name for a in arrays)[:200],
        )


def _extend(
    context: Context,
    session: Served,
    request: pb.CallRequest,
    arrays: list[Array],
    response: pb.CallResponse,
) -> None:
    names = list(request.extend.constants)
    given = dict(zip((t.name for t in request.tensors), arrays, strict=True))
    data = given.pop("", None)
    if data is None:
        response.missing.extend(session.missing(request.graph, names))
        return
    session.extend(request.graph, data.tobytes(), given, set(names))
    if context.folder is not None and session.name:
        session.resume(context.folder)


def _look(
    context: Context,
    local: Local,
    asked: pb.Look,
    arrays: list[Array],
    run: Run,
    response: pb.CallResponse,
    send: Send,
) -> None:
    prepared = _prepared(local.graph, asked.choice)
    sizes = {name: int(size) for name, size in asked.sizes.items()}
    if asked.what == pb.Look.WHAT_PLAN:
        response.text = local.explain(prepared, sizes if asked.has_sizes else None)
    elif asked.what == pb.Look.WHAT_MEMORY:
        response.memory.CopyFrom(memory_message(local.memory(prepared, sizes)))
    elif asked.what == pb.Look.WHAT_PROFILE:
        _check_feeds(local.graph, prepared, arrays)
        step = asked.step if asked.HasField("step") else None
        times = checked_repeat(asked.repeat)
        with context.gate.entered(run):
            profile, values = local.profile(prepared, arrays, step, times, run.cancel)
        response.profile.CopyFrom(profile_message(profile))
        send(values, ())


def _publish(local: Local, request: pb.CallRequest, arrays: list[Array]) -> None:
    variables = local.variables
    names = [variables.name(tensor.name) for tensor in request.tensors]
    counters = None
    if request.publish.HasField("counters"):
        counted = request.publish.counters
        counters = Snapshot(run_number=counted.run_number, step=counted.step)
    variables.publish(dict(zip(names, arrays, strict=True)), counters)


def _state(local: Local, what: pb.State.What, response: pb.CallResponse, send: Send) -> None:
    if what == pb.State.WHAT_INITIALIZE:
        local.initialize()
    elif what == pb.State.WHAT_SNAPSHOT:
        held = local.snapshot()
        response.counters.run_number = held.run_number
        response.counters.step = held.step
        send(list(held.arrays.values()), list(held.arrays))
    elif what == pb.State.WHAT_TRIM:
        response.count = local.trim()
    elif what == pb.State.WHAT_MEMORY_IN_USE:
        response.count = local.memory_in_use()
