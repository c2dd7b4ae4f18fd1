"""The test's own lines, as error messages give them."""

from __future__ import annotations

import sys


def line_ahead(count: int) -> str:
    """`file.py:line` of the line `count` lines below the caller's."""
    frame = sys._getframe(1)
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno + count}"
