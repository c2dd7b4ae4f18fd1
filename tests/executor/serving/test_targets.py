"""Sessions do the same wherever they run: here, in a child, behind a socket or a port."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad
from staticad_executor.serving import exchange
from tests.lines import line_ahead

F32 = np.float32


class Trainer:
    """A graph with state, random numbers and an optimizer."""

    def __init__(self) -> None:
        with sad.Graph(seed=7) as graph:
            self.x = sad.placeholder("float32", ("n", 6), name="x")
            w = sad.variable(sad.random.normal((6, 4)), name="w")
            hidden = sad.nn.dropout(sad.tanh(self.x @ w), 0.3)
            self.loss = sad.mean(sad.square(hidden), name="loss")
            self.train = sad.optimizers.Adam(0.1).minimize(self.loss)
        self.graph = graph
        self.data = np.random.default_rng(1).normal(size=(8, 6)).astype(F32)

    def step(self, session: sad.Session) -> Any:
        loss, nothing = session.run([self.loss, self.train], {self.x: self.data})
        assert nothing is None
        return loss


def state(session: sad.Session) -> Any:
    held = session.snapshot()
    return held.run_number, held.step, {name: a.tobytes() for name, a in held.arrays.items()}


def both(target: str | None, graph: sad.Graph, **options: Any) -> tuple[sad.Session, sad.Session]:
    """A session there, and one here."""
    return sad.Session(graph, target=target, **options), sad.Session(graph, **options)


def error_of(call: Callable[[], object]) -> Exception:
    with pytest.raises(sad.StaticadError) as raised:
        call()
    return raised.value


def same_errors(call: Callable[[sad.Session], object], *sessions: sad.Session) -> Exception:
    """The error that a call raises in all sessions, word by word; its lines are the graph's."""
    errors = [error_of(lambda session=session: call(session)) for session in sessions]  # type: ignore[misc]
    for error in errors[1:]:
        assert type(error) is type(errors[0])
        assert str(error) == str(errors[0])
    return errors[0]


class TestSession:
    def test_values_of_all_dtypes_and_shapes(self, target: str | None) -> None:
        rng = np.random.default_rng(0)
        dtypes = [
            np.bool_, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float16,
            ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128,
        ]  # fmt: skip
        with sad.Graph() as graph:
            xs = [sad.placeholder(np.dtype(d), ("n", "m")) for d in dtypes]
            fetches = {str(np.dtype(d)): [x, (x[:, :1],)] for d, x in zip(dtypes, xs, strict=True)}
        with sad.Session(graph, target=target) as session:
            for shape in ((2, 3), (0, 3), (1, 1)):
                feeds = {
                    x: rng.integers(0, 2, shape).astype(d) for d, x in zip(dtypes, xs, strict=True)
                }
                found = session.run(fetches, feeds)
                for d, fed in zip(dtypes, feeds.values(), strict=True):
                    whole, (part,) = found[str(np.dtype(d))]
                    assert whole.dtype == part.dtype == d
                    assert whole.shape == shape
                    assert whole.tobytes() == fed.tobytes()
                    assert part.tobytes() == fed[:, :1].tobytes()

    def test_special_values_keep_their_bits(self, target: str | None) -> None:
        bits = np.array([0x7FC01234, 0xFFC00001, 0x80000000, 1, 0x7F800000], np.uint32)
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n",), name="x")
            y = sad.identity(x)
        with sad.Session(graph, target=target) as session:
            assert session.run(y, {"x": bits.view(F32)}).tobytes() == bits.tobytes()

    def test_training_gives_the_same_bits(self, target: str | None) -> None:
        trainer = Trainer()
        there, here = both(target, trainer.graph)
        with there, here:
            for _ in range(3):
                assert trainer.step(there).tobytes() == trainer.step(here).tobytes()
            assert state(there) == state(here)

    def test_callable_takes_the_number_of_the_random_stream(self, target: str | None) -> None:
        trainer = Trainer()
        there, here = both(target, trainer.graph)
        with there, here:
            calls = [s.callable(trainer.loss, [trainer.x]) for s in (there, here)]
            for number in (5, 2**64 - 1, None, None):
                first, second = (call(trainer.data, step=number) for call in calls)
                assert first.tobytes() == second.tobytes()
            assert state(there) == state(here)
            same_errors(lambda s: s.run(trainer.loss, {"x": trainer.data}, step=-1), there, here)

    def test_results_are_the_callers(self, target: str | None) -> None:
        with sad.Graph() as graph:
            v = sad.variable(np.ones(3, F32), name="v")
        with sad.Session(graph, target=target) as session:
            first = session.run(v)
            first += 1
            again, twice = session.run([v, v])
            again += 5
            assert twice.tolist() == [1, 1, 1]
            assert session.run(v).tolist() == [1, 1, 1]

    @pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1, 3_000_001])
    def test_large_tensors_both_ways(self, target: str | None, size: int) -> None:
        x = np.random.default_rng(3).normal(size=size).astype(F32)
        with sad.Graph() as graph:
            held = sad.placeholder("float32", ("n",), name="x")
            small = sad.placeholder("int8", (), name="small")
            outputs = [-held, sad.cast(small, "float32"), held[::2]]
        with sad.Session(graph, target=target) as session:
            for _ in range(3):
                first, second, third = session.run(outputs, {"x": x, "small": 3})
                assert np.array_equal(first, -x)
                assert second == 3
                assert np.array_equal(third, x[::2])

    def test_large_constants(self, target: str | None) -> None:
        table = np.random.default_rng(3).normal(size=(1000, 40)).astype(F32)
        with sad.Graph() as graph:
            held = sad.constant(table)
            y = held[3] + sad.constant(table.astype(np.complex64))[4]
        with sad.Session(graph, target=target) as session:
            assert np.array_equal(session.run(y), table[3] + table[4].astype(np.complex64))
            with graph:
                z = sad.constant(table + 1)[5] + held[6]
            assert np.array_equal(session.run(z), table[5] + 1 + table[6])

    def test_variables(self, target: str | None) -> None:
        trainer = Trainer()
        there, here = both(target, trainer.graph)
        with there, here:
            w = trainer.graph["w"]
            assert list(there.variables) == list(here.variables)
            assert "w" in there.variables
            assert np.array_equal(there.variables["w"], here.variables[w])
            value = np.arange(24, dtype=F32).reshape(6, 4)
            for session in (there, here):
                session.variables["w"] = value.tolist()
                session.variables[w][0, 0] = 99
            assert np.array_equal(there.variables["w"], value)
            for session in (there, here):
                trainer.step(session)
            assert state(there) == state(here)
            same_errors(lambda s: s.variables.__setitem__("w", np.ones((2, 2))), there, here)
            same_errors(lambda s: s.variables["v"], there, here)
            for session in (there, here):
                session.initialize()
            assert state(there) == state(here)

    def test_checkpoints_and_snapshots(self, target: str | None, tmp_path: Path) -> None:
        trainer = Trainer()
        there, here = both(target, trainer.graph)
        with there, here:
            trainer.step(there)
            kept = there.snapshot()
            there.save(tmp_path / "there.safetensors")
            trainer.step(there)
            here.restore(tmp_path / "there.safetensors")
            trainer.step(here)
            there.restore(kept)
            trainer.step(there)
            assert state(there) == state(here)
            there.save(tmp_path / "a")
            here.save(tmp_path / "b")
            assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
            other = Trainer()
            with other.graph:
                sad.variable(0.0, name="more")
            with sad.Session(other.graph, target=target) as session:
                wrong = error_of(lambda: session.restore(tmp_path / "a"))
                assert "missing 'more'" in str(wrong)

    def test_sessions_share_variables(self, target: str | None) -> None:
        with sad.Graph() as graph:
            v = sad.variable(1.0, name="v")
            add = v.assign_add(2.0)
        with sad.Graph() as other:
            twice = sad.variable(5.0, name="v") * 2
        with (
            sad.Session(graph, target=target) as first,
            sad.Session(other, target=target, variables=first.variables) as second,
        ):
            first.run(add)
            assert second.run(twice) == 6
            second.variables["v"] = 10
            assert first.run(v) == 10

    @pytest.mark.filterwarnings("ignore::staticad.GrowthWarning")
    def test_the_graph_grows(self, target: str | None) -> None:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n",), name="x")
            v = sad.variable(1.0, name="v")
            y = x + v
        with sad.Session(graph, target=target) as session:
            found = session.run([y, v.assign_add(1.0)], {x: [1]})
            assert found[0].tolist() == [2]
            for k in range(7):
                with graph:
                    y = y * 2
                    u = sad.variable(float(k), name=f"u{k}")
                assert session.run(y + u, {x: [1]}).tolist() == [3 * 2 ** (k + 1) + k]
            # What is not used any more may have been forgotten there.
            assert session.run(graph["v"]) == 2

    def test_loops_choices_and_sizes_that_runs_find(self, target: str | None) -> None:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n",), name="x")
            total = sad.while_loop(lambda t: sad.sum(t) < 100.0, lambda t: t * 2, x)
            chosen = sad.cond(x[0] > 0, lambda: sad.sum(x), lambda: sad.prod(x))
            where = sad.nonzero(x)[0]
        with sad.Session(graph, target=target) as session:
            found = session.run([total, chosen, where], {x: [-1, 0, 5]})
            assert found[0].tolist() == [-32, 0, 160]
            assert found[1] == 0
            assert found[2].tolist() == [0, 2]

    def test_errors_are_the_same_with_the_same_lines(self, target: str | None) -> None:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n", 3), name="x")
            z = sad.placeholder("float32", ("n", "m"), name="z")
            line = line_ahead(1)
            checked = sad.assert_(sad.all(x > 0), "must be positive", x)  # noqa: PT009
            y = sad.sum(x + z, name="y")
            k = sad.placeholder("int64", (), name="k")
            taken = sad.take(x, k, axis=0)
        there, here = both(target, graph)
        with there, here:
            ones = np.ones((2, 3), F32)
            failed = same_errors(lambda s: s.run(checked, {x: -ones}), there, here)
            assert isinstance(failed, sad.ExecutionError)
            assert failed.site is not None
            assert str(failed.site).partition(",")[0].endswith(line)
            same_errors(lambda s: s.run(taken, {x: ones, k: 7}), there, here)
            same_errors(lambda s: s.run(y, {x: ones, z: np.ones((2, 4), F32)}), there, here)
            same_errors(lambda s: s.run(y, {x: np.ones((2, 4), F32), z: ones}), there, here)
            same_errors(lambda s: s.run(y, {x: ones}), there, here)
            same_errors(lambda s: s.callable(y, [x]), there, here)
            same_errors(lambda s: s.run("nothing"), there, here)
            same_errors(lambda s: s.run(y, {"x": ["a"], "z": ones}), there, here)
            same_errors(lambda s: s.memory(y), there, here)
            same_errors(lambda s: s.explain(y, {"n": 2}), there, here)

    def test_options(self, target: str | None) -> None:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n",), name="x")
            y = sad.log(x)
            z = sad.log(1 + x)
        options: dict[str, Any] = {"threads": 1, "rewrites": ("exact",)}
        with sad.Session(graph, target=target, **options) as session:
            assert "log1p" not in session.explain(z, {"n": 2})
        with sad.Session(graph, target=target) as session:
            assert "log1p" in session.explain(z, {"n": 2})
        there, here = both(target, graph, check_numerics=True)
        with there, here:
            same_errors(lambda s: s.run(y, {x: [-1]}), there, here)
            same_errors(lambda s: s.explain(y), there, here)
        budget = error_of(lambda: sad.Session(graph, target=target, memory_budget=0))
        device = error_of(lambda: sad.Session(graph, target=target, device="opencl:none-such"))
        assert "number of bytes" in str(budget)
        assert "none-such" in str(device)

    def test_looking_inside(self, target: str | None, tmp_path: Path) -> None:
        trainer = Trainer()
        there, here = both(target, trainer.graph)
        with there, here:
            fetches = [trainer.loss, trainer.train]
            assert there.explain(fetches) == here.explain(fetches)
            assert there.explain(fetches, {"n": 4}) == here.explain(fetches, {"n": 4})
            assert str(there.memory(fetches, {"n": 4})) == str(here.memory(fetches, {"n": 4}))
            feeds = {trainer.x: trainer.data}
            profiles = [s.profile(fetches, feeds, tmp_path / "t.json", 3) for s in (there, here)]
            assert profiles[0].result[0].tobytes() == profiles[1].result[0].tobytes()
            assert profiles[0].result[1] is None
            calls = [{row.name: row.calls for row in p.by_line()} for p in profiles]
            assert calls[0] == calls[1]
            assert any("test_targets.py" in name for name in calls[0])
            assert profiles[0].seconds > 0
            assert "by op" in str(profiles[0])
            trace = json.loads((tmp_path / "t.json").read_text())
            assert len(trace["traceEvents"]) == len(profiles[0].trace()["traceEvents"])
            assert there.memory_in_use() >= 0
            assert there.trim() >= 0
            assert state(there) == state(here)

    def test_many_threads(self, target: str | None) -> None:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", ("n",), name="x")
            count = sad.variable(np.zeros((), np.int64), name="count")
            y, add = x * 3, count.assign_add(1)
        wrong = []
        with sad.Session(graph, target=target) as session:

            def work(k: int) -> None:
                for size in (3, 200_000, 5):
                    fed = np.full(size, k, F32)
                    if not np.array_equal(session.run([y, add], {x: fed})[0], fed * 3):
                        wrong.append(k)

            threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert session.variables["count"] == 18
        assert wrong == []

    def test_cancel_and_then_run_again(self, target: str | None) -> None:
        with sad.Graph() as graph:
            v = sad.variable(np.zeros(4, F32), name="v")
            long = sad.while_loop(lambda t: sad.all(t < 1e30), lambda t: t + 1, v.read())
            add = v.assign_add(sad.ones(4))
        with sad.Session(graph, target=target) as session:
            session.run(add)
            found: list[BaseException] = []

            def work() -> None:
                try:
                    session.run([long, add])
                except sad.StaticadError as error:
                    found.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            while thread.is_alive():
                time.sleep(0.1)
                session.cancel()
            assert [type(e) for e in found] == [sad.CancelledError]
            assert session.run(add).tolist() == [2] * 4

    def test_a_closed_session_refuses(self, target: str | None) -> None:
        with sad.Graph() as graph:
            v = sad.variable(1.0, name="v")
        with sad.Session(graph, target=target) as session:
            call = session.callable(v)
            result = call()
        assert result == 1
        session.close()
        for run in (lambda: session.run(v), call):
            assert "closed" in str(error_of(run))

    def test_ctrl_c_frees_the_run(self, target: str | None, alarm: Callable[[float], None]) -> None:
        with sad.Graph() as graph:
            v = sad.variable(np.zeros(4, F32), name="v")
            long = sad.while_loop(lambda t: sad.all(t < 1e30), lambda t: t + 1, v.read())
            add = v.assign_add(sad.ones(4))
        with sad.Session(graph, target=target) as session:
            session.run(add)

            def wait() -> None:
                alarm(0.2)
                session.run([long, add])

            with pytest.raises(KeyboardInterrupt):
                wait()
            # It waits for the other run's lock, so that one has ended.
            assert session.run(add).tolist() == [2] * 4


def test_pieces_carry_what_shared_memory_cannot(
    monkeypatch: pytest.MonkeyPatch, tcp_server: Any
) -> None:
    monkeypatch.setattr(exchange.Exchange, "_shared", lambda self, size: None)
    suite = TestSession()
    suite.test_values_of_all_dtypes_and_shapes(tcp_server.address)
    suite.test_large_tensors_both_ways(tcp_server.address, 3_000_001)
    suite.test_large_constants(tcp_server.address)
    suite.test_training_gives_the_same_bits(tcp_server.address)
    suite.test_errors_are_the_same_with_the_same_lines(tcp_server.address)
    suite.test_cancel_and_then_run_again(tcp_server.address)
