"""The public list of staticad_schema is complete, and nothing else is public by accident."""

import inspect
import types

import staticad_schema
from staticad_schema import errors


def test_the_list_is_complete() -> None:
    for name in staticad_schema.__all__:
        # Some are imported when they are first asked for.
        assert hasattr(staticad_schema, name), name
    names = {
        name
        for name, value in vars(staticad_schema).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert names == set(staticad_schema.__all__) - {"ops"}
    assert len(staticad_schema.__all__) == len(set(staticad_schema.__all__))


def test_every_error_is_public() -> None:
    for name, value in inspect.getmembers(errors, inspect.isclass):
        if issubclass(value, errors.StaticadError):
            assert getattr(staticad_schema, name) is value


def test_everything_public_is_described() -> None:
    for name in staticad_schema.__all__:
        value = getattr(staticad_schema, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
