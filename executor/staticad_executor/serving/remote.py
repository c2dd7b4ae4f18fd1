"""The runner of another process: what a session asks is sent there."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from staticad_schema import run_pb2 as pb
from staticad_schema.errors import PlanError, StaticadError
from staticad_schema.graph import Graph
from staticad_schema.types import Array, array_type

from ..address import Target, is_private
from ..engine import Prepared
from ..fetches import Rebuild
from ..memory import MemoryPrediction
from ..options import checked_step
from ..profile import Profile
from ..state import Snapshot, require_fit
from ..variables import Variables
from .channel import Channel
from .exchange import Exchange
from .failures import UnknownGraphError
from .graphs import Packer
from .measured import memory, profile


class Chosen(NamedTuple):
    """An engine elsewhere: what it is prepared for, as a message."""

    choice: pb.Choice


class RemoteVariables(Variables):
    """The values that a session elsewhere holds for the variables of a graph."""

    def __init__(self, graph: Graph, remote: Remote) -> None:
        super().__init__(graph)
        self.remote = remote

    def read(self, name: str) -> Array:
        """A copy of the value of a variable of the graph."""
        call = pb.CallRequest(read=pb.Names(names=[name]))
        (array,) = self.remote.ask(call, (), (), "variables")[1]
        return array

    def publish(self, arrays: Mapping[str, Array], counters: Snapshot | None = None) -> None:
        """Set variables, and the counters, in one step."""
        for name, array in arrays.items():
            require_fit(self._graph, name, array_type(array), "variable")
        call = pb.CallRequest(publish=pb.Publish())
        if counters is not None:
            call.publish.counters.run_number = counters.run_number
            call.publish.counters.step = counters.step
        self.remote.ask(call, list(arrays.values()), list(arrays), "variables")


class Remote:
    """Runs a graph in another process."""

    def __init__(
        self, graph: Graph, target: Target, variables: Variables | None, asked: pb.OpenRequest
    ) -> None:
        self.graph = graph
        self.target = target
        self.variables = RemoteVariables(graph, self)
        self._closed = False
        self._packer = Packer()
        self._growing = threading.Lock()
        self._known: tuple[tuple[int, ...], bytes] | None = None
        # A session that shares variables with another is where that one is.
        beside = variables.remote if isinstance(variables, RemoteVariables) else None
        self._owns_channel = beside is None
        self._channel: Channel = Channel(target) if beside is None else beside._channel
        try:
            if beside is not None:
                asked.variables_of = beside.id
            self._lease, opened = self._channel.begin(self._channel.stub.open, asked, "Session")
            self.id: str = opened.session
            self._exchange = Exchange(self._channel, self.id, is_private(target.address))
        except BaseException:
            self._leave()
            raise

    @classmethod
    def open(
        cls,
        graph: Graph,
        target: Target,
        variables: Variables | None,
        device: str,
        threads: int | None,
        check_numerics: bool,
        rewrites: Sequence[str],
        memory_budget: int | None,
    ) -> Self:
        """A session at a target.  Raises PlanError, and what the target refuses it with."""
        if variables is not None and not (
            isinstance(variables, RemoteVariables) and variables.remote.target == target
        ):
            raise PlanError(
                "these variables are not where the session is to be",
                asked="Session(variables=…)",
                expected=f"variables of a session with target={target.address!r}",
                found=repr(variables)[:200],
            )
        return cls(
            graph,
            target,
            variables,
            pb.OpenRequest(
                name=target.session,
                device=device,
                threads=int(threads or 0),
                check_numerics=check_numerics,
                rewrites=rewrites,
                memory_budget=int(memory_budget or 0),
            ),
        )

    # ---------------------------------------------------------------- running

    def engine(self, prepared: Prepared) -> Chosen:
        """What `execute` takes; whether it can run, the run tells."""
        return Chosen(_choice(prepared))

    def checked(self, prepared: Prepared) -> Chosen:
        """The same, prepared there.  Raises PlanError."""
        choice = _choice(prepared)
        self.ask(pb.CallRequest(run=pb.Run(choice=choice, only_checked=True)), (), (), "callable")
        return Chosen(choice)

    def execute(self, engine: Chosen, feeds: list[Array], step: object, rebuild: Rebuild) -> Any:
        """Run once: what `rebuild` makes of the fetched arrays."""
        run = pb.Run(choice=engine.choice, step=None if step is None else checked_step(step))
        try:
            return rebuild(self.ask(pb.CallRequest(run=run), feeds, (), "run")[1])
        finally:
            self.graph.note_run()

    def cancel(self) -> None:
        """Make the runs of this session that are in progress raise CancelledError."""
        self._channel.ask(self._channel.stub.cancel, pb.CancelRequest(session=self.id), "cancel")

    # ---------------------------------------------------------------- looking inside

    def explain(self, prepared: Prepared, sizes: Mapping[str, int] | None) -> str:
        """The plan in words."""
        look = pb.Look(
            what=pb.Look.WHAT_PLAN,
            choice=_choice(prepared),
            has_sizes=sizes is not None,
            sizes=sizes,
        )
        text: str = self.ask(pb.CallRequest(look=look), (), (), "explain")[0].text
        return text

    def memory(self, prepared: Prepared, sizes: Mapping[str, int]) -> MemoryPrediction:
        """The bytes that a run would need."""
        look = pb.Look(what=pb.Look.WHAT_MEMORY, choice=_choice(prepared), sizes=sizes)
        return memory(self.ask(pb.CallRequest(look=look), (), (), "memory")[0].memory)

    def profile(
        self, prepared: Prepared, feeds: list[Array], step: object, repeat: int
    ) -> tuple[Profile, list[Array]]:
        """The measured steps of some runs, and what the last one fetched."""
        look = pb.Look(
            what=pb.Look.WHAT_PROFILE,
            choice=_choice(prepared),
            repeat=repeat,
            step=None if step is None else checked_step(step),
        )
        answer, values = self.ask(pb.CallRequest(look=look), feeds, (), "profile")
        return profile(answer.profile), values

    # ---------------------------------------------------------------- state

    def initialize(self) -> None:
        """Set every variable to its initial value, and the counters to zero."""
        self._state(pb.State.WHAT_INITIALIZE, "initialize")

    def snapshot(self) -> Snapshot:
        """A copy of all variables of the graph and of the counters."""
        answer, arrays = self._state(pb.State.WHAT_SNAPSHOT, "snapshot")
        names = [tensor.name for tensor in answer.tensors]
        counters = answer.counters
        held = Snapshot(run_number=counters.run_number, step=counters.step)
        return held.with_arrays(dict(zip(names, arrays, strict=True)))

    def trim(self) -> int:
        """Give idle memory back there; the bytes that were given back."""
        return int(self._state(pb.State.WHAT_TRIM, "trim")[0].count)

    def memory_in_use(self) -> int:
        """Bytes of the blocks that variables and results hold there."""
        return int(self._state(pb.State.WHAT_MEMORY_IN_USE, "memory_in_use")[0].count)

    def _state(self, what: pb.State.What, asked: str) -> tuple[pb.CallResponse, list[Array]]:
        return self.ask(pb.CallRequest(state=pb.State(what=what)), (), (), asked)

    # ---------------------------------------------------------------- lifetime

    def close(self) -> None:
        """End the session; one with a name goes on without this client."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self.target.session:
                request = pb.CloseRequest(session=self.id)
                self._channel.ask(self._channel.stub.close, request, "close")
        except StaticadError:
            # It has gone already, with its server or before it.
            pass
        finally:
            self._lease.cancel()
            self._exchange.close()
            self._leave()

    def _leave(self) -> None:
        if self._owns_channel:
            self._channel.close()

    # ---------------------------------------------------------------- asking

    def ask(
        self, call: pb.CallRequest, arrays: Sequence[Array], names: Sequence[str], asked: str
    ) -> tuple[pb.CallResponse, list[Array]]:
        """The answer to a call about the present graph, and its arrays."""
        if self._closed:
            raise PlanError(
                "the session is closed",
                asked=asked,
                expected="an open session",
                found="one that was closed, or left by its `with`",
            )
        call.session, call.graph = self.id, self._graph_there(asked)
        try:
            return self._exchange.ask(call, arrays, names, asked)
        except UnknownGraphError:
            # Only the newest graphs are kept there.
            self._known = None
            call.graph = self._graph_there(asked)
            return self._exchange.ask(call, arrays, names, asked)

    def _graph_there(self, asked: str) -> bytes:
        """The digest of the graph as it is now, sent there if it has grown."""
        graph = self.graph
        size = (len(graph.nodes), len(graph.functions), len(graph.variable_specs))
        known = self._known
        if known is not None and known[0] == size:
            return known[1]
        with self._growing, graph.lock:
            size = (len(graph.nodes), len(graph.functions), len(graph.variable_specs))
            packed = self._packer.packed(graph)
            digest = packed.digest
            extend = pb.Extend(constants=packed.constants)
            call = pb.CallRequest(session=self.id, graph=digest, extend=extend)
            missing = self._exchange.ask(call, (), (), asked)[0].missing
            if missing:
                given = {name: packed.constants[name] for name in missing if name}
                arrays = [packed.octets, *given.values()]
                self._exchange.ask(call, arrays, ["", *given], asked)
            self._known = size, digest
            return digest


def _choice(prepared: Prepared) -> pb.Choice:
    return pb.Choice(values=prepared.values, effects=prepared.effects, fed=prepared.fed)
