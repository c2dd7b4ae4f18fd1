"""The dtypes, by the names that arrays of other libraries have for them."""

from __future__ import annotations

from staticad_schema import types

bool = types.BOOL
int8, int16, int32, int64 = types.INT8, types.INT16, types.INT32, types.INT64
uint8, uint16, uint32, uint64 = types.UINT8, types.UINT16, types.UINT32, types.UINT64
float16, float32, float64 = types.FLOAT16, types.FLOAT32, types.FLOAT64
bfloat16 = types.BFLOAT16
complex64, complex128 = types.COMPLEX64, types.COMPLEX128
