"""Every runner on every workload, each in a process of its own, and the table of their best rounds.

Rounds are interleaved, all runners on one workload before the next, so that a drift of the machine
touches all alike; interference only ever adds, so the best round's median counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import benchmarks
from benchmarks import picture, startup
from benchmarks.devices import described
from benchmarks.measure import Record, environment, growth
from benchmarks.yardstick import WORKLOADS
from staticad_executor.machine import Limits, Work, measured

RUN_LIMIT = 300  # seconds of one process
CHAIN_LIMIT = 60
PATIENCE = 20  # seconds of a first call, beyond which a runner gets no further round


@dataclass(frozen=True)
class Peer:
    """A runner, and the module without which it cannot run.

    deep: whether it has graph_scale.  arguments: to its command line, beside the workload.
    """

    name: str
    needs: str
    module: str
    deep: bool = False
    arguments: tuple[str, ...] = ()


PEERS = (
    Peer("numpy-by-hand", "numpy", "benchmarks.peers.numpy_by_hand"),
    Peer("torch-eager", "torch", "benchmarks.peers.torch_cpu", deep=True),
    Peer("torch-compile", "torch", "benchmarks.peers.torch_cpu", arguments=("--compile",)),
    Peer("jax", "jax", "benchmarks.peers.jax_jit", deep=True),
    Peer("tf1", "tensorflow", "benchmarks.peers.tf1_graph"),
    Peer("onnxruntime", "onnxruntime", "benchmarks.peers.onnx_runtime"),
    Peer("pytensor-numba", "pytensor", "benchmarks.peers.pytensor_native"),
    Peer("pytensor-c", "pytensor", "benchmarks.peers.pytensor_native", arguments=("--through-c",)),
)


def interpreters() -> list[str]:
    """This interpreter, and those of the virtual environments in PEERS_HOME."""
    found = [sys.executable]
    home = os.environ.get("PEERS_HOME")
    if home:
        found += sorted(str(path) for path in Path(home).glob("*/bin/python"))
    return found


def command_of(peer: Peer) -> list[str] | None:
    """The start of the peer's command line, in the first interpreter that has what it needs."""
    test = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({peer.needs!r}) is None)"
    for python in interpreters():
        if subprocess.run([python, "-c", test], env=environment(), check=False).returncode == 0:
            return [python, "-W", "ignore", "-m", peer.module, *peer.arguments]
    return None


def records(command: Sequence[str], limit: float) -> list[Record]:
    """The JSON lines of a process, also of one that was stopped at the limit."""
    try:
        done = subprocess.run(
            command,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limit,
            check=False,
        )
        output, why = done.stdout, f"exit status {done.returncode}" if done.returncode else None
    except subprocess.TimeoutExpired as error:
        output, why = error.stdout or b"", f"over {limit:.0f} s"
    lines: list[Record] = [
        json.loads(line) for line in output.decode().splitlines() if line.startswith("{")
    ]
    return [*lines, {"ok": False, "error": why}] if why else lines


def duration(seconds: float | None) -> str:
    """Three or four digits with a unit."""
    if seconds is None:
        return "-"
    if seconds >= 1.0:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table whose columns are as wide as their widest cell."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        yield "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"


def best_rounds(
    commands: Mapping[str, list[str]], budget: float, rounds: int, workloads: Sequence[str]
) -> dict[tuple[str, str], Record]:
    """For each workload and runner the record with the lowest median.

    Its first call is that of the first round; `again_seconds` is the shortest first call of later
    ones, which find on disk what that one has built.
    """
    best: dict[tuple[str, str], Record] = {}
    firsts: dict[tuple[str, str], list[float]] = {}
    has = {
        peer: records([*command, "--list"], RUN_LIMIT)[-1].get("workloads", [])
        for peer, command in commands.items()
    }
    for k in range(rounds):
        for workload in workloads:
            for peer, command in commands.items():
                key = workload, peer
                # What takes long to build may be there at once the second time.
                if workload not in has[peer]:
                    continue
                if k > 1 and firsts.get(key, [0.0])[-1] > PATIENCE:
                    continue
                arguments = ["--workload", workload, "--budget", str(budget)]
                record = records([*command, *arguments], RUN_LIMIT)[-1]
                if "first_call_seconds" in record:
                    firsts.setdefault(key, []).append(record["first_call_seconds"])
                known = best.get(key)
                if known is None or record.get("seconds_median", 1e9) < known.get(
                    "seconds_median", 1e9
                ):
                    best[key] = record
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for key, (first, *later) in firsts.items():
        best[key] |= {"first_call_seconds": first, "again_seconds": min(later, default=None)}
    return best


HEADER = (
    "workload", "peer", "median", "min", "of best peer", "of limit", "first call", "again",
    "RSS MB", "",
)  # fmt: skip


def workload_rows(best: dict[tuple[str, str], Record], limits: Limits) -> Iterator[list[str]]:
    """One row a runner and workload, with the ratios to the best framework that is not staticad
    and to what the machine could do."""
    ratios = picture.ratios(best)
    for workload in dict.fromkeys(name for name, _ in best):
        cost = WORKLOADS[workload]().cost
        bound = limits.bound(Work(cost.flops, cost.special, cost.traffic))
        mine = {peer: record for (name, peer), record in best.items() if name == workload}
        medians = {peer: r["seconds_median"] for peer, r in mine.items() if r["ok"]}
        for peer, r in sorted(mine.items(), key=lambda item: medians.get(item[0], 1e9)):
            if "error" in r:
                yield [workload, peer, *["-"] * 7, r["error"]]
                continue
            ratio = ratios.get(workload, {}).get(peer)
            yield [
                workload,
                peer,
                duration(r["seconds_median"]),
                duration(r["seconds_min"]),
                "-" if ratio is None else f"{ratio:.2f}",
                f"{bound / r['seconds_median']:.1%}",
                duration(r["first_call_seconds"]),
                duration(r.get("again_seconds")),
                f"{r['peak_rss_mb']:.0f}",
                "" if r["ok"] else "WRONG NUMBERS",
            ]


def summary(
    best: Mapping[tuple[str, str], Record], own: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """For each workload the best peer, the ratio to it of staticad on each device, and the best of
    them.  own: staticad's names.  Where no peer was right, times stand for the ratios."""
    rows = []
    for workload in dict.fromkeys(name for name, _ in best):
        medians = {
            peer: record["seconds_median"]
            for (name, peer), record in best.items()
            if name == workload and record["ok"]
        }
        rivals = {peer: m for peer, m in medians.items() if picture.is_rival(peer)}
        rival = min(rivals, key=lambda peer: rivals[peer], default=None)
        mine = {peer: medians[peer] for peer in own if peer in medians}
        fastest = min(mine, key=lambda peer: mine[peer], default=None)

        def told(peer: str | None, medians: dict[str, float], rival: str | None) -> str:
            if peer is None or peer not in medians:
                return "-"
            median = medians[peer]
            return duration(median) if rival is None else f"{median / medians[rival]:.2f}"

        rows.append(
            [
                workload,
                "-" if rival is None else f"{rival} {duration(rivals[rival])}",
                *[told(peer, medians, rival) for peer in own],
                f"{told(fastest, medians, rival)} {fastest or ''}".strip(),
            ]
        )
    return ["workload", "best peer", *own, "best of these"], rows


def graph_scale_rows(commands: dict[str, list[str]], sizes: Sequence[int]) -> Iterator[list[str]]:
    """The phases of the deep chain, for each runner that has it, and how they grow."""
    before: dict[str, list[Record]] = {}
    for n in sizes:
        for peer, command in commands.items():
            lines = records([*command, "--chain", str(n)], CHAIN_LIMIT)
            phases = [r for r in lines if "phase" in r]
            error = next((r["error"] for r in lines if "error" in r), "")
            grown = {r["growth"]: r["times"] for r in growth(before.get(peer, []), phases)}
            before[peer] = phases
            cells = [
                f"{r['phase']} {duration(r['seconds'])}"
                + (f" ({grown[r['phase']]:.1f} x)" if r["phase"] in grown else "")
                for r in phases
            ]
            yield [
                str(n),
                peer,
                ", ".join(cells) or "-",
                f"{phases[-1]['peak_rss_mb']:.0f}" if phases else "-",
                error,
            ]


def runners(devices: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The command lines of staticad on each device and of the peers that are there, by name; and
    the names of those with graph_scale."""
    commands: dict[str, list[str]] = {}
    deep: list[str] = []
    for device in devices:
        name = f"{picture.OWN} {device}"
        module = ["-W", "ignore", "-m", "benchmarks.peer_staticad"]
        commands[name] = [sys.executable, *module, "--device", device]
        deep.append(name)
    for peer in PEERS:
        command = command_of(peer)
        if command is None:
            print(f"{peer.name}: no interpreter has {peer.needs}", file=sys.stderr)
            continue
        commands[peer.name] = command
        if peer.deep:
            deep.append(peer.name)
    return commands, deep


def print_all(
    devices: Sequence[str],
    budget: float,
    rounds: int,
    sizes: Sequence[int],
    picture_path: str | None,
    workloads: Sequence[str],
) -> None:
    """Run everything and print the tables; write the picture of the first."""
    commands, deep = runners(devices)
    limits = measured(benchmarks.THREADS)
    best = best_rounds(commands, budget, rounds, workloads)
    if picture_path is not None:
        Path(picture_path).write_text(picture.drawn(best), encoding="utf-8")
    print(limits, *described(devices), sep="\n", end="\n\n")
    print(*aligned(HEADER, list(workload_rows(best, limits))), sep="\n", end="\n\n")
    own = [peer for peer in commands if picture.is_own(peer)]
    print(*aligned(*summary(best, own)), sep="\n", end="\n\n")
    print(*aligned(
        ["first loss", "fresh process", "again"],
        [
            [r["peer"], duration(r["first_loss_cold"]), duration(r["first_loss_warm"])]
            for r in (startup.first_loss(p, c) for p, c in commands.items())
        ],
    ), sep="\n", end="\n\n")  # fmt: skip
    print(*aligned(
        ["nodes", "peer", "phases", "RSS MB", ""],
        list(graph_scale_rows({name: commands[name] for name in deep}, sizes)),
    ), sep="\n")  # fmt: skip
