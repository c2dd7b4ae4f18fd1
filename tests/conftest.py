"""Settings of all tests."""

from hypothesis import settings

# On a busy machine an example's time says nothing about the example.
settings.register_profile("staticad", deadline=None)
settings.load_profile("staticad")
