"""What is told of plans, as messages: predictions of memory, and profiles."""

from __future__ import annotations

from staticad_schema import run_pb2 as pb
from staticad_schema.shapes import bind_shape
from staticad_schema.types import NAMES, TensorType

from ..machine import Limits, Work
from ..memory import MemoryPrediction
from ..plan import MemoryUse
from ..profile import Event, MeasuredStep, Profile
from .failures import line, site


def memory_message(found: MemoryPrediction) -> pb.Memory:
    """A prediction as a message."""
    uses = [
        pb.MemoryUse(
            bytes=use.nbytes,
            op=use.op,
            name=use.name,
            dtype=use.type.dtype.name,
            shape=bind_shape(use.type.shape, {}),
            site=line(use.site),
        )
        for use in found.largest[:100]
    ]
    return pb.Memory(bytes=found[:-1], largest=uses)


def memory(message: pb.Memory) -> MemoryPrediction:
    """A prediction from its message."""
    uses = [
        MemoryUse(
            use.bytes, use.op, use.name, TensorType(NAMES[use.dtype], tuple(use.shape)),
            site(use.site),
        )
        for use in message.largest
    ]  # fmt: skip
    peak, scratch, result, write, variable, feed = message.bytes
    return MemoryPrediction(peak, scratch, result, write, variable, feed, tuple(uses))


def profile_message(profile: Profile) -> pb.Profile:
    """A profile as a message, without results."""
    made = pb.Profile(
        threads=profile.threads, seconds=profile.seconds, limits=profile.limits._asdict()
    )
    numbers: dict[MeasuredStep, int] = {}
    for step, start, stop in profile.events:
        if step not in numbers:
            numbers[step] = len(numbers)
            made.steps.append(pb.ProfiledStep(**step._asdict()))
        made.events.append(pb.ProfiledEvent(step=numbers[step], start=start, stop=stop))
    return made


def profile(message: pb.Profile) -> Profile:
    """A profile from its message."""
    steps = [
        MeasuredStep(
            step.number, step.name, step.kind, step.device, step.algorithm, tuple(step.nodes),
            tuple(step.lines), tuple(step.reads), tuple(step.writes), step.live_bytes,
            Work(*step.work),
        )
        for step in message.steps
    ]  # fmt: skip
    events = [Event(steps[e.step], e.start, e.stop) for e in message.events]
    found = Profile(message.threads, events, Limits(**message.limits))
    found.seconds = message.seconds
    return found
