"""Running a training step over batches, and what is kept of it: a curve, a picture, files.

What the models here have in common by name: the tensor `loss`, the effect `train`, and, of those
that read digits, the placeholders images and labels and the tensors accuracy and digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from tqdm import tqdm

import staticad as sad

from .mnist import Digits, Split, batches


@dataclass
class Curve:
    """What was seen while training: a loss a step, and now and then the step and a score."""

    losses: list[float] = field(default_factory=list)
    scores: list[tuple[int, float]] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The last score."""
        return self.scores[-1][1]


def fit(
    session: sad.Session,
    inputs: Sequence[str],
    feeds: Iterable[Sequence[Any]],
    *,
    steps: int,
    score: Callable[[], float],
    every: int,
    progress: bool = True,
) -> Curve:
    """Run the effect `train` over `steps` feeds; ask for the score after each `every` of them.

    progress: show a bar on standard error.
    """
    curve = Curve()
    step = session.callable(["loss", "train"], list(inputs))
    with tqdm(total=steps, disable=not progress, unit="step") as bar:
        for _, feed in zip(range(steps), feeds, strict=False):
            loss, _ = step(*feed)
            curve.losses.append(float(loss))
            done = len(curve.losses)
            if done % every == 0 or done == steps:
                curve.scores.append((done, score()))
                bar.set_postfix_str(f"loss {loss:.3f}, score {curve.score:.4g}")
            bar.update()
    return curve


def accuracy(session: sad.Session, digits: Digits) -> float:
    """The share of images whose digit the session's variables tell right."""
    return float(session.run("accuracy", {"images": digits.images, "labels": digits.labels}))


def train(
    session: sad.Session,
    data: Split,
    *,
    epochs: int,
    batch_size: int = 128,
    seed: int = 0,
    shift: int = 0,
    progress: bool = True,
) -> Curve:
    """Train a reader of digits; its scores are the test accuracy after each epoch."""
    steps_per_epoch = len(data.train.labels) // batch_size
    return fit(
        session,
        ["images", "labels"],
        batches(data.train, batch_size, epochs, seed, shift=shift),
        steps=epochs * steps_per_epoch,
        score=lambda: accuracy(session, data.test),
        every=steps_per_epoch,
        progress=progress,
    )


def draw(curve: Curve, title: str, score: str, path: Path) -> None:
    """Write the learning curve as a picture; `score` says what the scores are."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    left = figure.subplots()
    left.plot(curve.losses, color="tab:blue", linewidth=0.8)
    scale = "log" if min(curve.losses) > 0 else "linear"
    left.set(title=title, xlabel="step", ylabel="training loss", yscale=scale)
    right = left.twinx()
    steps, scores = zip(*curve.scores, strict=True)
    right.plot(steps, scores, color="tab:orange", marker=".")
    right.set(ylabel=score)
    figure.savefig(path, dpi=120)


def save(
    session: sad.Session, graph: sad.Graph, curve: Curve, name: str, score: str, folder: Path
) -> None:
    """Write graph, checkpoint and curve into `folder`, and say how the training went."""
    folder.mkdir(parents=True, exist_ok=True)
    session.save(folder / f"{name}.safetensors")
    graph.save(folder / f"{name}.sad")
    draw(curve, name.replace("_", " "), score, folder / f"{name}.png")
    print(f"loss {curve.losses[0]:.4f} at the first step, {curve.losses[-1]:.4f} at the last")
    print(f"{score} {curve.score:.4g}")
    print(f"wrote {name}.sad, {name}.safetensors and {name}.png into {folder}")


def train_and_save(
    graph: sad.Graph,
    data: Split,
    name: str,
    folder: Path,
    *,
    epochs: int,
    batch_size: int = 128,
    seed: int = 0,
    shift: int = 0,
) -> None:
    """What the `main` of a reader of digits does."""
    with sad.Session(graph) as session:
        curve = train(session, data, epochs=epochs, batch_size=batch_size, seed=seed, shift=shift)
        save(session, graph, curve, name, "test accuracy", folder)
