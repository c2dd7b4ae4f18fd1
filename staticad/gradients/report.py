"""What a check of derivatives found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """One product compared: the mode, order, derivative, quotient, and what may differ.

    by: what the quotient is: "differences", or "complex step".
    """

    mode: str
    order: int
    derivative: float
    quotient: float
    tolerance: float
    by: str = "differences"

    @property
    def agrees(self) -> bool:
        """Whether both are finite and within the tolerance."""
        return bool(abs(self.derivative - self.quotient) <= self.tolerance)


@dataclass(frozen=True)
class GradientReport:
    """What was compared: all within tolerance, or at a kink between the one-sided quotients.

    Printed, a table.
    """

    comparisons: tuple[Comparison, ...]

    def __str__(self) -> str:
        exact = sum(c.by == "complex step" for c in self.comparisons)
        steps = f", {exact} of them with the complex step" if exact else ""
        lines = [f"{len(self.comparisons)} derivatives agree with finite differences{steps}"]
        lines.append("  mode     order      derivative    difference by  tolerance")
        for c in self.comparisons:
            gap = f"{abs(c.derivative - c.quotient):13.2g}" if c.agrees else f"{'at a kink':>13}"
            lines.append(
                f"  {c.mode:<8} {c.order:5d} {c.derivative:15.8g} {gap:>16} {c.tolerance:10.1g}"
            )
        return "\n".join(lines)

    @property
    def worst(self) -> Comparison:
        """The comparison that uses most of its tolerance."""
        return max(self.comparisons, key=lambda c: abs(c.derivative - c.quotient) / c.tolerance)
