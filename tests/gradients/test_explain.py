"""`explain_gradient` names the path, or what cuts it."""

from __future__ import annotations

import staticad as sad


def test_connected_path() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        h = sad.sin(x, name="h")
        y = sad.exp(h, name="y")
    told = sad.explain_gradient(y, x)
    assert told.connected
    assert [line.split("'")[1] for line in told.path] == ["x", "h", "y"]


def test_cuts_are_named() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (3,), name="x")
        for y, word in (
            (sad.floor(x), "floor"),
            (sad.stop_gradient(x) * 2.0, "stop_gradient"),
            (sad.astype(sad.astype(x, "int32"), "float32"), "cast"),
            (sad.where(x > 0.0, 1.0, 2.0), "greater"),
        ):
            told = sad.explain_gradient(y, x)
            assert not told.connected
            assert word in told.reason
            assert "test_explain.py:" in told.reason


def test_independent_and_integer() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        i = sad.placeholder("int32", (), name="i")
        y = sad.placeholder("float32", (), name="y")
    assert "does not depend on 'x'" in sad.explain_gradient(y, x).reason
    assert "int32" in sad.explain_gradient(y, i).reason
