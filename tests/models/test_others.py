"""The models that do not read digits: what they compute, and that they learn."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import staticad as sad
from models import gpt, lstm_text, mnist, pinn, text, vae

# ------------------------------------------------------------------ text


def test_the_text_is_shakespeare() -> None:
    works = text.load()
    assert len(works.train) > 4_900_000
    assert text.decoded(works.test[:32]) == "MACBETH\n\nby William Shakespeare\n"
    assert np.unique(works.train).tolist() == list(range(len(text.ALPHABET)))
    assert text.decoded(text.encoded("To be, or not? <é{}>")) == "To be, or not? "


def test_windows_and_pages_are_one_character_apart() -> None:
    letters = np.arange(23, dtype=np.int32)
    codes, targets = next(text.windows(letters, 4, 5, seed=0))
    assert codes.shape == targets.shape == (4, 5)
    np.testing.assert_array_equal(codes + 1, targets)
    codes, targets = text.pages(letters, 5)
    assert codes.reshape(-1).tolist() == list(range(20))
    np.testing.assert_array_equal(codes + 1, targets)


def test_characters_are_drawn_with_their_probabilities() -> None:
    logits = np.log([0.5, 0.3, 0.2])
    with sad.Graph(seed=0) as graph:
        rows = sad.broadcast_to(sad.constant(logits), (20_000, 3))
        temperature = sad.placeholder("float64", (), name="temperature")
        text.drawn(rows, temperature, name="character")
    session = sad.Session(graph)
    for warmth in (1.0, 0.5):
        found = np.bincount(session.run("character", {"temperature": warmth}), minlength=3)
        wanted = np.exp(logits / warmth)
        np.testing.assert_allclose(found / 20_000, wanted / wanted.sum(), atol=0.015)


def test_bits_weigh_all_pages() -> None:
    part = text.load().test[:3001]
    with sad.Session(gpt.build(width=8, heads=2, blocks=1, context=10)) as session:
        codes, targets = text.pages(part, 10)
        whole = session.run("loss", {"codes": codes, "targets": targets}) / math.log(2)
        assert text.bits(session, part, 10) == pytest.approx(whole, rel=1e-5)


def test_the_decoder_does_not_look_ahead() -> None:
    with sad.Session(gpt.build(width=8, heads=2, blocks=2, context=10)) as session:
        codes = np.arange(10)[None]
        other = codes.copy()
        other[0, 6:] += 20
        first, second = (session.run("logits", {"codes": c}) for c in (codes, other))
        np.testing.assert_allclose(first[:, :6], second[:, :6], rtol=1e-5, atol=1e-7)
        assert np.abs(first[:, 6:] - second[:, 6:]).max() > 1e-4
        short = session.run("logits", {"codes": codes[:, :4]})
        np.testing.assert_allclose(short, first[:, :4], rtol=1e-5, atol=1e-7)


def test_the_decoder_learns_and_writes() -> None:
    with sad.Session(gpt.build(width=16, heads=2, blocks=1, context=16, steps=150)) as session:
        curve = text.train(session, steps=150, rows=8, length=16, progress=False)
        assert np.mean(curve.losses[-20:]) < 3.2 < curve.losses[0]
        written = gpt.write(session, "MACBETH.\n", 20, context=16)
    assert written.startswith("MACBETH.\n")
    assert len(written) == 29


def test_the_lstm_learns_and_writes() -> None:
    with sad.Session(lstm_text.build(width=24, length=16, steps=150)) as session:
        curve = text.train(session, steps=150, rows=8, length=16, progress=False)
        assert np.mean(curve.losses[-20:]) < 3.3 < curve.losses[0]
        assert len(lstm_text.write(session, 20)) == 20


# ------------------------------------------------------------------ Burgers' equation


def test_the_exact_solution_solves_the_equation() -> None:
    nu, h = 0.05, 1e-4
    t, x = np.array([0.2, 0.5, 0.9]), np.array([0.3, -0.1, 0.02])
    u = pinn.exact(t, x, nu)
    u_t = (pinn.exact(t + h, x, nu) - pinn.exact(t - h, x, nu)) / (2 * h)
    right, left = pinn.exact(t, x + h, nu), pinn.exact(t, x - h, nu)
    u_x, u_xx = (right - left) / (2 * h), (right - 2 * u + left) / h**2
    np.testing.assert_allclose(u_t + u * u_x, nu * u_xx, atol=1e-5)
    np.testing.assert_allclose(pinn.exact(1e-12, x, nu), -np.sin(np.pi * x), atol=1e-6)
    np.testing.assert_allclose(pinn.exact(t, np.ones(3), nu), 0, atol=1e-12)


def test_the_network_learns_a_smooth_solution() -> None:
    nu = 0.2
    graph = pinn.build(width=12, layers=2, points=128, steps=400, learning_rate=0.02, nu=nu)
    with sad.Session(graph) as session:
        curve = pinn.train(session, 400, progress=False, nu=nu)
        assert curve.score < 0.2


def test_initial_and_boundary_values_are_built_in() -> None:
    x = np.linspace(-1, 1, 9, dtype=np.float32)
    with sad.Session(pinn.build(width=4, layers=2, points=16)) as session:
        start = session.run("u", {"t": np.zeros_like(x), "x": x})
        np.testing.assert_allclose(start, -np.sin(np.pi * x), atol=1e-6)
        edge = session.run("u", {"t": x[5:], "x": np.ones(4, np.float32)})
        np.testing.assert_allclose(edge, 0, atol=1e-6)


# ------------------------------------------------------------------ autoencoder


def test_the_bound_is_the_one_of_the_paper() -> None:
    images = mnist.load().test.images[:4]
    graph = vae.build(units=8, latent=3)
    with sad.Session(graph) as session:
        parts = ["loss", "divergence", "mean", "log_variance", "logits"]
        loss, divergence, mean, log_variance, logits = (
            np.asarray(part, "float64") for part in session.run(parts, {"images": images})
        )
    p = 1 / (1 + np.exp(-logits))
    likelihood = (images * np.log(p) + (1 - images) * np.log1p(-p)).sum(axis=1)
    wanted = 0.5 * (np.exp(log_variance) + mean**2 - 1 - log_variance).sum(axis=1)
    np.testing.assert_allclose(divergence, wanted, rtol=1e-4)
    np.testing.assert_allclose(loss, -(likelihood - wanted).mean(), rtol=1e-5)


def test_the_autoencoder_learns_and_draws(tmp_path: Path) -> None:
    data = mnist.load()
    with sad.Session(vae.build(units=64, latent=4, steps=120)) as session:
        curve = vae.train(session, data, epochs=3, progress=False)
        assert curve.score > -230
        vae.draw(session, 4, tmp_path / "digits.png")
    assert (tmp_path / "digits.png").stat().st_size > 1000


# ------------------------------------------------------------------ as `python -m models.NAME`


@pytest.mark.parametrize("model", [gpt, lstm_text, pinn, vae], ids=lambda model: model.__name__)
def test_main_writes_graph_checkpoint_and_curve(
    model: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    works = text.load()
    monkeypatch.setattr(text, "load", lambda: text.Text(works.train[:9000], works.test[:3000]))
    monkeypatch.setattr(model, "EPOCHS" if model is vae else "STEPS", 2)
    model.main(seed=0, folder=tmp_path)
    name = model.__name__.rpartition(".")[2]
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {f"{name}.sad", f"{name}.safetensors", f"{name}.png"}
    assert "at the last" in capsys.readouterr().out


@pytest.mark.slow
def test_the_autoencoder_reaches_its_bound() -> None:
    with sad.Session(vae.build(0)) as session:
        assert vae.train(session, mnist.load(), progress=False).score > -122


@pytest.mark.slow
def test_the_solution_is_near() -> None:
    with sad.Session(pinn.build(0)) as session:
        assert pinn.train(session, progress=False).score < 0.03


@pytest.mark.slow
def test_the_decoder_needs_few_bits_for_macbeth() -> None:
    steps, rows, length = gpt.STEPS, gpt.ROWS, gpt.CONTEXT
    with sad.Session(gpt.build(0)) as session:
        curve = text.train(session, steps=steps, rows=rows, length=length, progress=False)
    assert curve.score < 2.7


@pytest.mark.slow
def test_the_lstm_needs_few_bits_for_macbeth() -> None:
    steps, rows, length = lstm_text.STEPS, lstm_text.ROWS, lstm_text.LENGTH
    with sad.Session(lstm_text.build(0)) as session:
        curve = text.train(session, steps=steps, rows=rows, length=length, progress=False)
    assert curve.score < 2.7
