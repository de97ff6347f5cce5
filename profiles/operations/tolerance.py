"""Which relative L2 error still passes, per dtype, and why."""

from __future__ import annotations

from profiles.workload import DType

# Storing one value costs at most half a unit in the last place: 2^-9 in bf16, 2^-12 in fp16, 2^-24 in fp32. A correct
# implementation rounds at a handful of places (naive attention in bf16 reads 3.7e-3 on an H200, two roundings), so
# eight such errors pass. In fp32 the sums themselves count: a dot product of n terms errs by about √n roundings, and
# with n up to 2^14 that is 128, of which few are in phase; 2^-24 * 128 is 8e-6, rounded up.
TOLERANCES = {DType.BF16: 8 * 2**-9, DType.FP16: 8 * 2**-12, DType.FP32: 1e-5}


def of_dtype(dtype: DType) -> float:
    """For one operator computed from inputs of `dtype`."""
    return TOLERANCES[dtype]
