"""`check_gradients` accepts what is right, and finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import staticad as sad
from staticad_schema.op import OPS, each


def test_accepts_a_network_to_second_order() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (4, 3), name="x")
        w = sad.variable(np.linspace(-1.0, 1.0, 15).reshape(3, 5), name="w")
        y = sad.logsumexp(sad.tanh(x @ w), axis=-1)
        rng = np.random.default_rng(1)
        report = sad.testing.check_gradients(y, [x, w], {x: rng.normal(size=(4, 3))}, order=2)
    assert {(c.mode, c.order) for c in report.comparisons} == {
        (m, k) for m in ("reverse", "forward") for k in (1, 2)
    }
    assert report.worst.agrees


def test_leaves_inputs_bit_identical() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        given = np.array([0.0, -0.0, 2.5])
        before = given.tobytes()
        given.flags.writeable = False
        sad.testing.check_gradients(sad.sin(x), x, {x: given})
    assert given.tobytes() == before


def test_accepts_a_kink_within_the_one_sided_slopes() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (3,), name="x")
        sad.testing.check_gradients(sad.nn.relu(x), x, {x: [0.0, 1.0, -1.0]})
        sad.testing.check_gradients(sad.abs(x), x, {x: [0.0, 1.0, -1.0]})


def test_a_report_is_printed_as_a_table() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        smooth = str(sad.check_gradients(sad.sin(x), x, {x: [0.5, 1.0]}, order=2))
        kinked = str(sad.check_gradients(sad.nn.relu(x), x, {x: [0.0, 1.0]}))
    first, _, *rows = smooth.splitlines()
    assert first == "8 derivatives agree with finite differences"
    assert [row.split()[:2] for row in rows[:4]] == [
        ["reverse", "1"], ["forward", "1"], ["reverse", "2"], ["forward", "2"],
    ]  # fmt: skip
    assert "at a kink" not in smooth
    assert "at a kink" in kinked


def test_says_so_where_the_convention_is_not_the_one_sided_truth() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        with pytest.raises(sad.GradientError, match="1 from the right"):
            sad.testing.check_gradients(sad.sqrt(x) ** 2, x, {x: 0.0})


def test_finds_a_wrong_rule_and_names_the_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPS["sin"], "grad", each(lambda x, out, g: OPS["multiply"](out, g)))
    monkeypatch.setattr(OPS["sin"], "jvp", "derived")
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="input")
        y = sad.sin(x)
        for mode in ("reverse", "forward"):
            with pytest.raises(sad.GradientError, match="disagrees") as caught:
                sad.testing.check_gradients(y, x, {x: [0.3, 1.2]}, modes=[mode])
    assert "'input'" not in str(caught.value) or "entry" in str(caught.value)


def test_finds_a_rule_that_is_wrong_in_second_order_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The value of the gradient is right, but it is cut from x.
    monkeypatch.setattr(
        OPS["sin"],
        "grad",
        each(lambda x, out, g: OPS["multiply"](OPS["stop_gradient"](OPS["cos"](x)), g)),
    )
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        y = sad.sin(x)
        sad.testing.check_gradients(y, x, {x: [0.3, 1.2]})
        with pytest.raises(sad.GradientError, match="order 2"):
            sad.testing.check_gradients(y, x, {x: [0.3, 1.2]}, order=2)


def test_refuses_uncontrolled_randomness() -> None:
    with sad.Graph(seed=3):
        x = sad.placeholder("float64", (3,), name="x")
        y = x * sad.random.normal((3,), dtype="float64")
        with pytest.raises(sad.GradientError, match="random"):
            sad.testing.check_gradients(y, x, {x: np.ones(3)})
        sad.testing.check_gradients(y, x, {x: np.ones(3)}, run=4)


def test_complex_gradients_by_both_parts() -> None:
    with sad.Graph():
        z = sad.placeholder("complex128", (2,), name="z")
        y = sad.exp(z) * z + sad.conj(z)
        sad.testing.check_gradients(y, z, {z: [1 + 2j, -0.5j]}, order=2)


def test_float32_with_its_few_digits() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        sad.testing.check_gradients(sad.exp(x) * x, x, {x: [0.1, 0.5, 2.0]})


def test_a_small_error_at_a_smooth_point_is_no_kink(monkeypatch: pytest.MonkeyPatch) -> None:
    # Wrong by 1e-7, relatively: far more than finite differences in float64 are off.
    monkeypatch.setattr(
        OPS["sin"], "grad", each(lambda x, out, g: OPS["cos"](x) * g * (1.0 + 1e-7))
    )
    monkeypatch.setattr(OPS["sin"], "jvp", "derived")
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        y = sad.sin(x)
        for mode in ("reverse", "forward"):
            with pytest.raises(sad.GradientError, match="disagrees"):
                sad.check_gradients(y, x, {x: [0.3, 1.2]}, modes=[mode])


def test_a_wrong_entry_beside_a_kink_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        OPS["abs"], "grad", each(lambda x, out, g: OPS["sign"](x) * g * (1.0 + 1e-7))
    )
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        with pytest.raises(sad.GradientError, match=r"entry \(1,\)"):
            sad.check_gradients(sad.abs(x), x, {x: [0.0, 1.2]}, modes=["reverse"])


def test_a_jump_is_no_kink() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = sad.floor(x) + x
        with pytest.raises(sad.GradientError, match="disagrees"):
            sad.check_gradients(y, x, {x: 2.0})
