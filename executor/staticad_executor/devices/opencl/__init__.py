"""The OpenCL devices: whatever conforms, GPUs and CPUs alike.  Imported when first asked for.

From the ground up: `discovery` finds and selects devices, `limits` says what they can do, `cache`
keeps what was built on disk, `runtime` is one device in use, `launch` a kernel with its arguments,
`buffers` and `transfer` are memory and the ways into it, `selftest` asks a device for answers
that are known.
"""
