"""Special functions in OpenCL C, in float64 whatever float is asked for.

Each module has functions by name, in an order in which they may be defined; `library` knows which
of them an op needs.  They are scalar, and short for what they do: compilers copy them to wherever
they are called, so a loop is better than two calls.  Coefficients are in tables.
"""
