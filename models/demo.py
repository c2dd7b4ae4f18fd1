"""A network's life: built, differentiated and trained here; saved; evaluated and trained further
in a process that has no model code; with the same bits.

python -m models.demo [FOLDER]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from itertools import islice
from linecache import getline
from pathlib import Path
from typing import NamedTuple

import numpy as np

import staticad as sad

from . import lenet, mnist
from .mnist import Array, Digits, Split
from .separate_process import attempt, staticad_executor
from .training import Curve, accuracy, draw, train

STEPS = 100
BARS = "▁▂▃▄▅▆▇█"


class Further(NamedTuple):
    """The outcome of further training: a loss a step, the test accuracy, the variables' file."""

    losses: Array
    accuracy: Array
    checkpoint: Path


def heading(number: int, text: str) -> None:
    """Announce a part of the demo."""
    print(f"\n\033[1m{number}. {text}\033[0m" if sys.stdout.isatty() else f"\n{number}. {text}")


def drawn(image: Array) -> list[str]:
    """A digit of 28 × 28 pixels as 14 lines of half blocks."""
    ink = image.reshape(28, 28) > 0.35
    return [
        "".join(" ▀▄█"[int(top) + 2 * int(bottom)] for top, bottom in zip(*pair, strict=True))
        for pair in zip(ink[0::2], ink[1::2], strict=True)
    ]


def sparkline(values: list[float], width: int = 60) -> str:
    """The logarithm of the values, averaged to `width` columns, as a line of bars."""
    parts = np.array_split(np.asarray(values), min(width, len(values)))
    heights = np.array([np.log(part).mean() for part in parts])
    heights -= heights.min()
    return "".join(BARS[round(h)] for h in heights / max(heights.max(), 1e-9) * (len(BARS) - 1))


def size(path: Path) -> str:
    """The file's size in kB."""
    return f"{path.name}, {path.stat().st_size / 1000:,.0f} kB"


def by_line(graph: sad.Graph) -> list[str]:
    """For each line of the model, how many nodes it wrote and gradients() added to them."""
    written, added = Counter[int](), Counter[int]()
    file = Path(lenet.__file__)
    for node in graph.nodes:
        site, forward = graph.site(node.site), graph.site(node.forward_site)
        if site is not None and Path(site.file).name == file.name:
            written[site.line] += forward is None
        if forward is not None:
            added[forward.line] += 1
    rows = [f"{'':61}{'wrote':>6}{'gradients()':>13}"]
    for line in sorted(written):
        source = getline(str(file), line).strip()
        source = source if len(source) <= 60 else f"{source[:59]}…"
        rows.append(f"{source:61}{written[line]:6d}{added[line] or '':>13}".rstrip())
    return rows


def build(seed: int) -> sad.Graph:
    """Build the network, and say what the graph consists of."""
    heading(1, "Build the network as a graph, and differentiate it")
    graph = lenet.build(seed, steps=lenet.EPOCHS * (mnist.TRAIN // lenet.BATCH))
    derived = sum(1 for node in graph.nodes if node.forward_site)
    print(
        f"   {len(graph.nodes)} nodes, of which gradients() added {derived}; by line of the model:"
    )
    for row in by_line(graph):
        print(f"   {row}")
    weights = [name for name, v in graph.variables.items() if v.trainable]
    print(f"   variables: {', '.join(weights)}")
    print(f"   and {len(graph.variables) - len(weights)} of the optimizer and the averages")
    print(f"   signatures: {', '.join(graph.signatures)}")
    return graph


def train_here(session: sad.Session, data: Split, seed: int, folder: Path) -> Curve:
    """Train, with a progress bar, and draw the learning curve."""
    heading(2, f"Train it on {len(data.train.labels)} handwritten digits, in this process")
    curve = train(
        session, data, epochs=lenet.EPOCHS, batch_size=lenet.BATCH, seed=seed, shift=lenet.SHIFT
    )
    draw(curve, "LeNet on MNIST", "test accuracy", folder / "lenet.png")
    print(f"   loss {curve.losses[0]:.3f} {sparkline(curve.losses)} {curve.losses[-1]:.4f}")
    print(f"   test accuracy {curve.score:.1%}; learning curve in {folder / 'lenet.png'}")
    return curve


def evaluate_there(session: sad.Session, test: Digits, folder: Path) -> None:
    """Predict the test set in the other process and compare with the session here."""
    images = folder / "test_images.npy"
    np.save(images, test.images)
    staticad_executor(
        "run", folder / "lenet.sad", "--checkpoint", folder / "lenet.safetensors",
        "--signature", "predict", "--feed", f"images={images}",
        "--output", folder / "predicted.npz",
    )  # fmt: skip
    there = dict(np.load(folder / "predicted.npz"))
    digits = [drawn(image) for image in test.images[:4]]
    for line in zip(*digits, strict=True):
        print("   " + " ".join(line).rstrip())
    print("   " + " ".join(f"read as {digit}".center(28) for digit in there["digit"][:4]).rstrip())
    outputs = ["digit", "logits"]
    here = dict(zip(outputs, session.run(outputs, {"images": test.images}), strict=True))
    right = np.mean(there["digit"] == test.labels)
    print(f"   test accuracy there {right:.1%}, here {accuracy(session, test):.1%}")
    for name in outputs:
        report(f"{here[name].size} {name}s" if name == "digit" else name, here[name], there[name])


def report(what: str, here: Array, there: Array) -> None:
    """Compare two arrays bit for bit.  Raises SystemExit if they differ."""
    if here.dtype != there.dtype or here.tobytes() != there.tobytes():
        raise SystemExit(f"   {what}: NOT the same bits")
    print(f"   {what}: the same bits")


def further_here(session: sad.Session, batches: Digits, test: Digits, folder: Path) -> Further:
    """Train further in this process, from the state that the session is in."""
    step = session.callable(["loss", "train"], ["images", "labels"])
    losses = [step(*batch)[0] for batch in zip(*batches, strict=True)]
    session.save(folder / "further_here.safetensors")
    right = session.run("accuracy", {"images": test.images, "labels": test.labels})
    return Further(np.stack(losses), right, folder / "further_here.safetensors")


def further_there(batches: Digits, test: Digits, folder: Path) -> Further:
    """Train further in the other process, from the files."""
    for name, array in {
        "images": batches.images,
        "labels": batches.labels,
        "test_images": test.images,
        "test_labels": test.labels,
    }.items():
        np.save(folder / f"{name}.npy", array)
    graph, checkpoint = folder / "lenet.sad", folder / "further_there.safetensors"
    staticad_executor(
        "run", graph, "--checkpoint", folder / "lenet.safetensors", "--signature", "train",
        "--steps", str(len(batches.labels)),
        "--feed", f"images={folder / 'images.npy'}", "--feed", f"labels={folder / 'labels.npy'}",
        "--output", folder / "losses.npz", "--save-checkpoint", checkpoint,
    )  # fmt: skip
    staticad_executor(
        "run", graph, "--checkpoint", checkpoint, "--signature", "evaluate",
        "--feed", f"images={folder / 'test_images.npy'}",
        "--feed", f"labels={folder / 'test_labels.npy'}",
        "--output", folder / "accuracy.npz",
    )  # fmt: skip
    losses = np.load(folder / "losses.npz")["loss"]
    return Further(losses, np.load(folder / "accuracy.npz")["accuracy"], checkpoint)


def compare(here: Further, there: Further) -> None:
    """Print both sides, and compare losses, accuracy and variables bit for bit."""
    print("   step   loss here   its bits     loss there  its bits")
    count = len(here.losses)
    for k in (0, 1, count // 2, count - 1):
        sides = [f"{x:.7f}   0x{x.view(np.uint32):08x}" for x in (here.losses[k], there.losses[k])]
        print(f"   {k + 1:4d}   {'   '.join(sides)}")
    print(f"   test accuracy there {there.accuracy:.1%}, here {here.accuracy:.1%}")
    report(f"{count} losses", here.losses, there.losses)
    report("accuracy", here.accuracy, there.accuracy)
    files = [np.frombuffer(side.checkpoint.read_bytes(), np.uint8) for side in (here, there)]
    report("checkpoints, all variables and the optimizer's state", *files)


def main(folder: Path, seed: int = 0) -> None:
    """Run the demo; its files go into `folder`."""
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    data = mnist.load()
    graph = build(seed)
    with sad.Session(graph) as session:
        train_here(session, data, seed, folder)

        heading(3, "Save the graph and the variables")
        graph.save(folder / "lenet.sad")
        session.save(folder / "lenet.safetensors")
        print(f"   {size(folder / 'lenet.sad')}: network, gradients and optimizer")
        print(f"   {size(folder / 'lenet.safetensors')}: the variables")

        heading(4, "Evaluate it in another process, which has no model code")
        print(f"   >>> import staticad\n   {attempt('import staticad')}")
        evaluate_there(session, data.test, folder)

        heading(5, f"Train it {STEPS} steps further: there from the files, here in the session")
        more = islice(mnist.batches(data.train, lenet.BATCH, epochs=STEPS, seed=seed + 1), STEPS)
        batches = Digits(*map(np.stack, zip(*more, strict=True)))
        compare(
            further_here(session, batches, data.test, folder),
            further_there(batches, data.test, folder),
        )
    print(f"\n{time.perf_counter() - began:.0f} seconds in all")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out") / "demo")
