"""Devices: where plans run.  Each is a package, imported when it is first asked for."""
