"""Which line of the user's is calling now, and errors that learn it on their way out.

The first frame of the stack that lies outside the project's three packages, and outside NumPy and
SciPy, which users hand tensors and functions of ours to, is the user's; under a command line there
is none.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import FrameType, TracebackType
from typing import Any

from .errors import GraphError, Site, StaticadError

PACKAGES = frozenset({"staticad", "staticad_executor", "staticad_schema"})
_PASSING_ON = frozenset({"numpy", "scipy"})
# A module that is started as a command line holds this name: whoever called it is no user's code.
COMMAND_LINE = "STATICAD_COMMAND_LINE"

# By file, which is quicker than by package.  Generator-based context managers of ours run
# under a frame of contextlib's.
_INTERNAL: dict[str, bool] = {str(contextlib.__file__): True}
_RELATIVE: dict[str, str] = {}


def user_frame() -> FrameType | None:
    """The innermost frame that is the user's, None if there is none."""
    inner = sys._getframe(0)
    frame = inner.f_back
    internal = _INTERNAL
    while frame is not None:
        file = frame.f_code.co_filename
        inside = internal.get(file)
        if inside is None:
            inside = _is_internal(frame)
        if not inside:
            return None if COMMAND_LINE in inner.f_globals else frame
        inner, frame = frame, frame.f_back
    return None


def _is_internal(frame: FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    inside = package.partition(".")[0] in PACKAGES | _PASSING_ON
    file = frame.f_code.co_filename
    if not file.startswith("<"):  # "<string>" is code of anybody's
        _INTERNAL[file] = inside
    return inside


def site_of(frame: FrameType) -> Site:
    """The frame's present line."""
    code = frame.f_code
    file = _RELATIVE.get(code.co_filename)
    if file is None:
        file = _RELATIVE[code.co_filename] = relative_file(code.co_filename)
    return Site(file, frame.f_lineno, code.co_qualname)


def relative_file(file: str) -> str:
    """The file relative to the entry of sys.path that it was imported from, with slashes."""
    if file.startswith("<"):
        return file
    path = os.path.abspath(file)
    best = os.path.dirname(path)
    longest = 0
    for entry in sys.path:
        root = os.path.abspath(entry)
        if len(root) > longest and path.startswith(root.rstrip(os.sep) + os.sep):
            best, longest = root, len(root)
    return os.path.relpath(path, best).replace(os.sep, "/")


def user_site() -> Site | None:
    """The line of the innermost frame that is the user's."""
    frame = user_frame()
    return None if frame is None else site_of(frame)


def warn(message: str, category: type[Warning]) -> None:
    """Warn of the user's present line."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
    else:
        warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno)


class asking:  # noqa: N801
    """While this is open, an error is told what was asked, and where if it does not know; and if
    there is no memory for what is built, a GraphError is raised.

    asked: the function; name: the name that its result was to have.  Of functions that call each
    other the outermost one is what the user's line asked for: it replaces what was asked within,
    ops among it, but nothing that another line of the user's did.  keeps: it does not, because
    what happens within was asked for elsewhere, as the nodes of a run or a gradient were.
    """

    __slots__ = ("asked", "keeps", "name")

    def __init__(self, asked: str, name: Any = None, keeps: bool = False) -> None:
        self.asked = asked
        self.name = name
        self.keeps = keeps

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, StaticadError | MemoryError):
            asked = self.asked if self.name is None else f"{self.asked} {self.name!r}"
            site = user_site()
            if isinstance(error, StaticadError):
                if not self.keeps and error.site in (None, site):
                    error.asked = asked
                error.locate(asked=asked, site=site)
                return
            raise GraphError(
                "out of memory", asked=asked, expected="less", found=str(error), site=site
            ) from error
