"""What tests of models need."""

from typing import TYPE_CHECKING, NoReturn

from .elsewhere import missing
from .gradients import check_gradients

__all__ = ["check_gradients"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("testing", name)
