"""The instructions of a program, group by group, each by the writer of its device."""

from __future__ import annotations

from collections.abc import Mapping

from staticad_schema.op import CALLERS

from ..devices.base import HOST, OpenCL
from .bind import Bound
from .draft import Draft
from .nested import write_bodies
from .on_numpy import OnNumpy
from .on_opencl import OnOpenCL


def written(
    bound: Bound,
    python_scalars: bool = False,
    joins: bool = False,
    devices: Mapping[str, OpenCL] | None = None,
) -> Draft:
    """All instructions, in the order of the groups.

    python_scalars, joins: see `OnNumpy`.  devices: those beside NumPy, by name; what they do not
    run after all, NumPy does.
    """
    draft = Draft(bound)
    on_numpy = OnNumpy(draft, python_scalars, joins)
    on_opencl = {name: OnOpenCL(draft, device) for name, device in (devices or {}).items()}
    needed = draft.needed()
    nodes = draft.graph.nodes
    for group in bound.grouped.groups:
        members = [i for i in group.nodes if needed[i]]
        if not members:
            continue
        if group.kind == "view" and draft.view(members[0]):
            continue
        if nodes[members[0]].op == "group":
            continue
        draft.begin("region" if group.kind == "region" or group.rows >= 0 else "kernel")
        if nodes[members[0]].op in CALLERS:
            write_bodies(on_numpy, members[0])
            continue
        elsewhere = on_opencl.get(group.device)
        if elsewhere is None or not elsewhere.write(group, members):
            on_numpy.write(group, members)
    fetches = [draft.brought(value, HOST) for value in draft.program.fetches]
    # What variables are given stays where it is.
    draft.results = [*fetches, *draft.program.outputs[len(fetches) :]]
    return draft
