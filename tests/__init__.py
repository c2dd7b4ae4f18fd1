"""The tests: a package, so that shared modules import as `tests.NAME`.

Every folder below has an `__init__.py` too: pytest (importlib mode) and mypy then agree on names,
and two files may be called alike.
"""
