"""Training a classifier whose graph has the tensors that the models here name.

images, labels (placeholders), loss, accuracy, digit, and the effect train.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure
from tqdm import tqdm

import staticad as sad

from .mnist import Digits, Split, batches


@dataclass
class Curve:
    """What was seen while training: a loss a step; after each epoch the step and test accuracy."""

    losses: list[float] = field(default_factory=list)
    accuracies: list[tuple[int, float]] = field(default_factory=list)


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
    progress: bool = True,
) -> Curve:
    """Run the effect `train` over all batches.  `progress` shows a bar on standard error."""
    curve = Curve()
    step = session.callable(["loss", "train"], ["images", "labels"])
    steps_per_epoch = len(data.train.labels) // batch_size
    with tqdm(total=epochs * steps_per_epoch, disable=not progress, unit="step") as bar:
        for batch in batches(data.train, batch_size, epochs, seed):
            loss, _ = step(batch.images, batch.labels)
            curve.losses.append(float(loss))
            if len(curve.losses) % steps_per_epoch == 0:
                right = accuracy(session, data.test)
                curve.accuracies.append((len(curve.losses), right))
                bar.set_postfix_str(f"loss {loss:.3f}, test accuracy {right:.1%}")
            bar.update()
    return curve


def draw(curve: Curve, title: str, path: Path) -> None:
    """Write the learning curve as a picture."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    left = figure.subplots()
    left.plot(curve.losses, color="tab:blue", linewidth=0.8)
    left.set(title=title, xlabel="step", ylabel="training loss", yscale="log")
    right = left.twinx()
    steps, accuracies = zip(*curve.accuracies, strict=True)
    right.plot(steps, accuracies, color="tab:orange", marker=".")
    right.set(ylabel="test accuracy", ylim=(min(accuracies) - 0.02, 1.0))
    figure.savefig(path, dpi=120)


def train_and_save(
    graph: sad.Graph, data: Split, name: str, folder: Path, *, epochs: int, seed: int = 0
) -> None:
    """What the models' `main` does: train, say how it went, write graph, checkpoint and curve."""
    folder.mkdir(parents=True, exist_ok=True)
    with sad.Session(graph) as session:
        curve = train(session, data, epochs=epochs, seed=seed)
        session.save(folder / f"{name}.safetensors")
    graph.save(folder / f"{name}.sad")
    draw(curve, name.replace("_", " "), folder / f"{name}.png")
    print(f"loss {curve.losses[0]:.4f} at the first step, {curve.losses[-1]:.4f} at the last")
    print(f"test accuracy {curve.accuracies[-1][1]:.1%}")
    print(f"wrote {name}.sad, {name}.safetensors and {name}.png into {folder}")
