"""An LSTM that reads Shakespeare character by character (Hochreiter and Schmidhuber 1997).

Trained on pieces of the works that are read from a state of zeros.  It writes by itself: the
effect `write` draws a character, and keeps it and the state for the next run, so that so many steps
of the file are a text, in the executor too.

Measured: 2.60 bits a character of Macbeth, which is not trained on, in 1.5 minutes of CPU time.

python -m models.lstm_text [SEED]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import staticad as sad

from . import text
from .training import save

STEPS = 2500
ROWS = 32
LENGTH = 40


def build(
    seed: int = 0,
    *,
    width: int = 128,
    length: int = LENGTH,
    learning_rate: float = 6e-3,
    steps: int = STEPS,
) -> sad.Graph:
    """A graph with the signatures `train`, `evaluate` and `write`.

    codes, targets are int32 (batch, length); loss is the mean cross entropy in nats a character.
    write: temperature to `character`, the next one of a text that begins with an empty line.
    """
    characters = len(text.ALPHABET)
    with sad.Graph(seed=seed) as graph:
        codes = sad.placeholder("int32", ("batch", length), name="codes")
        targets = sad.placeholder("int32", ("batch", length), name="targets")
        weights = sad.nn.recurrent_weights("lstm", characters, width, name="lstm")
        scale = math.sqrt(1 / width)
        readout = sad.variable(sad.random.normal((width, characters), scale=scale), name="readout")
        priors = sad.variable(sad.zeros(characters), name="priors")

        states, _, _ = sad.nn.lstm(sad.one_hot(codes, characters), weights, batch_first=True)
        logits = sad.reshape(states, (-1, width)) @ readout + priors
        loss = sad.nn.cross_entropy(logits, sad.reshape(targets, (-1,)), name="loss")
        rate = sad.optimizers.schedules.cosine(learning_rate, steps, learning_rate / 20)
        train = sad.optimizers.Adam(rate).minimize(
            loss,
            transform=lambda gradients: sad.optimizers.clip_by_global_norm(gradients, 1.0),
            name="train",
        )

        temperature = sad.placeholder("float32", (), name="temperature")
        with sad.scope("writer"):
            last = sad.variable(np.zeros(1, np.int32), name="last", trainable=False)
            h = sad.variable(sad.zeros((1, width)), name="h", trainable=False)
            c = sad.variable(sad.zeros((1, width)), name="c", trainable=False)
        new_h, new_c = sad.nn.lstm_cell(sad.one_hot(last, characters), h, c, weights)
        following = text.drawn(new_h @ readout + priors, temperature, name="following")
        character = sad.squeeze(following, 0, name="character")
        code = sad.astype(following, "int32")
        write = sad.group(h.assign(new_h), c.assign(new_c), last.assign(code), name="write")
    graph.signature("train", {"codes": codes, "targets": targets}, {"loss": loss}, [train])
    graph.signature("evaluate", {"codes": codes, "targets": targets}, {"loss": loss})
    graph.signature("write", {"temperature": temperature}, {"character": character}, [write])
    return graph


def write(session: sad.Session, count: int, *, temperature: float = 0.7) -> str:
    """The next `count` characters of what the network writes."""
    step = session.callable(["character", "write"], ["temperature"])
    return text.decoded(np.array([step(temperature)[0] for _ in range(count)]))


def main(seed: int = 0, folder: Path = Path("out")) -> None:
    """Train, write graph, checkpoint and learning curve into `folder`, and print a sample."""
    graph = build(seed, steps=STEPS)
    with sad.Session(graph) as session:
        curve = text.train(session, steps=STEPS, rows=ROWS, length=LENGTH, seed=seed)
        save(session, graph, curve, "lstm_text", "bits a character of a part of Macbeth", folder)
        print(f"bits a character of Macbeth {text.bits(session, text.load().test, LENGTH):.3f}")
        print(write(session, 400))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
