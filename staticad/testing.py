"""What tests of models need."""

from .gradients import check_gradients

__all__ = ["check_gradients"]
