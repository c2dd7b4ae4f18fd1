"""Recorder: a graph that knows which line, scope and device its nodes come from.

What is remembered of the lines also tells when one builds the same nodes again between runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import get_ident
from types import CodeType, TracebackType
from typing import Any, Self

import numpy as np

from staticad_schema import graph as schema
from staticad_schema.calls import first_path
from staticad_schema.errors import ArgumentError, GraphError, UsageError
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, Op
from staticad_schema.sites import site_of, user_frame, user_site, warn
from staticad_schema.types import Array

from .current import DEVICE, GRAPHS, SCOPE, text
from .numbers import warn_of_rounding


class GrowthWarning(UserWarning):
    """A line builds nodes anew between runs, so that every run compiles another plan."""


class Recorder(schema.Graph):
    """A schema graph whose nodes carry the user's lines, scopes, names and devices."""

    def __init__(self, seed: int | None, strict: bool) -> None:
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer)):
            raise UsageError(
                "a seed is an integer",
                asked="Graph",
                expected="an int or None",
                found=f"{seed!r:.80}",
                site=user_site(),
            )
        super().__init__(None if seed is None else int(seed))
        self.strict = strict
        self._site_cache: dict[tuple[int, int], tuple[CodeType, int]] = {}
        self._sites_before_run = 0
        # By thread: which one built first at a site, and how many sites there were when it ran.
        self._builders: dict[int, int] = {}
        self._sites_before_run_of: dict[int, int] = {}
        self._grown: set[int] = set()
        self._suffixes: dict[str, int] = {}

    # ------------------------------------------------------------- being current

    def __enter__(self) -> Self:
        GRAPHS.set((*GRAPHS.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        GRAPHS.set(GRAPHS.get()[:-1])

    def current_site(self) -> int:
        """The index of the site of the user's present line."""
        frame = user_frame()
        if frame is None:
            return 0
        key = (id(frame.f_code), frame.f_lasti)
        found = self._site_cache.get(key)
        if found is None:
            with self.lock:
                site = self.intern_site(site_of(frame))
            # The code object is kept, so that no other can take its id.
            self._site_cache[key] = (frame.f_code, site)
            self._builders.setdefault(site, get_ident())
        else:
            site = found[1]
        if site < self._sites_before_run:
            self._note_growth(site)
        return site

    def note_run(self) -> None:
        """A Session has run this graph: lines that built something should not build it again."""
        self._sites_before_run = len(self.sites)
        self._sites_before_run_of[get_ident()] = len(self.sites)

    def _note_growth(self, site: int) -> None:
        if not self.strict and site in self._grown:
            return
        thread = get_ident()
        if self._builders.get(site, thread) == thread and site >= self._sites_before_run_of.get(
            thread, 0
        ):
            # Another thread has run, while this one is still building.
            return
        self._grown.add(site)
        where = self.sites[site]
        error = GraphError(
            "the graph grows between runs",
            asked="a node built again by the same line",
            expected="a line that builds once, before the first run",
            found=f"{len(self.nodes)} nodes, and more with every pass of this line",
            site=where,
            hint="build outside the loop, and feed or assign what changes",
        )
        if self.strict:
            raise error
        warn(str(error), GrowthWarning)

    def note_rounding(self, value: float | complex, array: Array) -> None:
        """Warn of a number in the user's expression; derivatives are written with others."""
        if not self.is_deriving:
            warn_of_rounding(value, array)

    def current_scope(self) -> str:
        """The scope of the innermost `with scope(...)`."""
        return SCOPE.get()

    def current_device(self) -> str | None:
        """The name in the innermost `with device(...)`."""
        return DEVICE.get()

    # ------------------------------------------------------------- names

    def make(
        self,
        definition: Op,
        inputs: Sequence[int] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        after: Iterable[int] = (),
        unique: bool = False,
    ) -> Node:
        """Append a node with a name, prefixed by the scope.

        A name that is taken gets a suffix, or with `unique` is a GraphError.
        """
        with self.lock:
            full = None if name is None else self.full_name(name, definition.name, unique)
            if definition.name in CALLERS and attributes and "path" not in attributes:
                bodies = attributes[definition.bodies[0]]
                body = bodies if isinstance(bodies, str) else bodies[0]
                attributes = {**attributes, "path": first_path(body)}
            return self.append(definition, inputs, attributes, after=after, name=full)

    def full_name(self, name: str, asked: str, unique: bool = False) -> str:
        """The name with its scope and, if it is taken, a suffix.  Raises GraphError."""
        text(name, asked)
        prefix = SCOPE.get()
        full = f"{prefix}/{name}" if prefix else name
        if not self.has_name(full):
            return full
        if unique:
            first = self.nodes[self.find(full)]
            raise ArgumentError(
                "the name is taken",
                asked=f"{asked} {full!r}",
                expected=f"a {asked} with a name of its own",
                found=f"{first.op} {full!r} ({self.site(first.site)})",
                site=user_site(),
                hint="to use it a second time, hand the first one on, as conv2d's weights are"
                if asked == "variable"
                else None,
            )
        count = self._suffixes.get(full, 1)
        while self.has_name(f"{full}_{count}"):
            count += 1
        self._suffixes[full] = count
        return f"{full}_{count}"

    def free_scope(self, base: str, member: str) -> str:
        """`base`, or `base` with a number: a scope in the present one that holds no `member`."""
        prefix = SCOPE.get()
        name, count = base, 0
        while self.has_name(f"{prefix}/{name}/{member}" if prefix else f"{name}/{member}"):
            count += 1
            name = f"{base}_{count}"
        return name

    def index_of(self, node: Node) -> int:
        """The index of a node that was just made, also of one without outputs."""
        if node.types:
            return self.producers[node.start]
        index = len(self.nodes) - 1
        while self.nodes[index] is not node:
            index -= 1
        return index
