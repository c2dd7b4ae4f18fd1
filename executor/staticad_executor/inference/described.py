"""What the protocol tells of a server and its models, as both of its forms write it: by names of
fields.  And the same for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .model import VERSION, Model, Tensor
from .repository import READY, Repository
from .statistics import Duration

EXTENSIONS = ("binary_tensor_data", "model_repository", "statistics", "system_shared_memory")
PLATFORM = "staticad"


def server() -> dict[str, Any]:
    """The server's metadata."""
    try:
        release = version("staticad")
    except PackageNotFoundError:
        release = "unknown"
    return {"name": "staticad-executor", "version": release, "extensions": list(EXTENSIONS)}


def model(model: Model) -> dict[str, Any]:
    """A model's metadata."""

    def tensors(side: dict[str, Tensor]) -> list[dict[str, Any]]:
        return [{"name": t.name, "datatype": t.datatype, "shape": t.shape} for t in side.values()]

    return {
        "name": model.name,
        "versions": [VERSION],
        "platform": PLATFORM,
        "inputs": tensors(model.inputs),
        "outputs": tensors(model.outputs),
    }


def index(repository: Repository, only_ready: bool) -> list[dict[str, Any]]:
    """All models, or those that are loaded."""
    return [
        {
            "name": entry.name,
            "version": VERSION if entry.state == READY else "",
            "state": entry.state,
            "reason": entry.reason,
        }
        for entry in repository.index()
        if entry.state == READY or not only_ready
    ]


def statistics(repository: Repository, name: str, version: str) -> list[dict[str, Any]]:
    """Counts and times of a model, or of all.  Raises UnknownFetchError."""
    models = [repository.get(name, version).model] if name else repository.models()
    return [_statistics(model) for model in models]


def _statistics(model: Model) -> dict[str, Any]:
    held = model.statistics
    nothing = {"count": 0, "ns": 0}
    with held.lock:
        return {
            "name": model.name,
            "version": VERSION,
            "last_inference": held.last_ms,
            "inference_count": held.rows,
            "execution_count": held.runs,
            "inference_stats": {
                "success": _duration(held.success),
                "fail": _duration(held.fail),
                "queue": _duration(held.queue),
                "compute_input": nothing,
                "compute_infer": _duration(held.infer),
                "compute_output": nothing,
            },
            "batch_stats": [
                {
                    "batch_size": rows,
                    "compute_input": nothing,
                    "compute_infer": _duration(spent),
                    "compute_output": nothing,
                }
                for rows, spent in sorted(held.by_batch.items())
            ],
        }


def _duration(spent: Duration) -> dict[str, int]:
    return {"count": spent.count, "ns": spent.ns}


# A metric: its kind, what it says, its samples of a model by labels of their own.
Samples = Callable[[Model], Iterator[tuple[str, float]]]
_METRICS: dict[str, tuple[str, str, Samples]] = {
    "staticad_requests_total": (
        "counter",
        "Requests that were answered.",
        lambda m: iter(
            [
                ('outcome="success"', m.statistics.success.count),
                ('outcome="fail"', m.statistics.fail.count),
            ]
        ),
    ),
    "staticad_request_seconds_total": (
        "counter",
        "Time from a request's arrival to its answer.",
        lambda m: iter([("", (m.statistics.success.ns + m.statistics.fail.ns) / 1e9)]),
    ),
    "staticad_rows_total": (
        "counter",
        "Rows that were inferred.",
        lambda m: iter([("", m.statistics.rows)]),
    ),
    "staticad_runs_total": (
        "counter",
        "Runs of the graph.",
        lambda m: iter([("", m.statistics.runs)]),
    ),
    "staticad_run_seconds_total": (
        "counter",
        "Time of those runs.",
        lambda m: iter([("", sum(d.ns for d in list(m.statistics.by_batch.values())) / 1e9)]),
    ),
    "staticad_queue_seconds_total": (
        "counter",
        "Time that requests waited.",
        lambda m: iter([("", m.statistics.queue.ns / 1e9)]),
    ),
}


def metrics(repository: Repository, sessions: int, running: int) -> str:
    """All counts in Prometheus' text form."""
    lines = []
    for name, words, number in (
        ("staticad_sessions", "Sessions that are open.", sessions),
        ("staticad_runs_in_progress", "Runs that are in progress.", running),
    ):
        lines += [f"# HELP {name} {words}", f"# TYPE {name} gauge", f"{name} {number}"]
    for name, (kind, help, samples) in _METRICS.items():
        lines += [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
        for model in repository.models():
            for label, value in samples(model):
                labels = f'model="{_escaped(model.name)}"' + (f",{label}" if label else "")
                lines.append(f"{name}{{{labels}}} {value}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
