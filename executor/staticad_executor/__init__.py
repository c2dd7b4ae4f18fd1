"""Runs graphs: compiles them to plans, holds variables.  Needs no model code."""
