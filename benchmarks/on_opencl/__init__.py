"""Kernels on an OpenCL device: what is timed, and what bounds it."""
