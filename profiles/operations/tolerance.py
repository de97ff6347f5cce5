"""Which relative L2 error still passes, per dtype, and why: the table of docs/measuring.md."""

from __future__ import annotations

from profiles.workload import DType

# Storing a value costs up to 2^-8 of it in bf16, 2^-11 in fp16 and 2^-24 in fp32; in the mean square 0.4 times that
# (1.6e-3, 2.0e-4, 2.5e-8), which is all that a right result rounded once is off by. Steps that round independently add
# in quadrature. In bf16 ninety values may be stored one after another for each that is returned: far more than any code
# does, far less than what a wrong result is off by. In fp16 the same would let through what is computed in bf16: a
# result that went through bf16 once is off by 1.5e-3 or more (1.47e-3 in the mildest case, of 192 elements), honest
# code by 6.1e-4 at most, and the tolerance lies between. In fp32 the sums themselves count: a dot product of n terms
# errs by about √n roundings, and with n up to 2^14 that is 128, of which few are in phase; 2^-24 * 128 is 8e-6, rounded
# up.
TOLERANCES = {DType.BF16: 8 * 2**-9, DType.FP16: 1.3e-3, DType.FP32: 1e-5}

# The largest relative L2 error that an honest implementation had, at the sizes of the presets and small ones, on a CPU
# (torch 2.13) and, of attention in bf16, on an H200 (3.7e-3, torch 2.11). Left out are rows of one element, which may
# cancel (2.3e-2, a SwiGLU of width 1 in bf16), and decoders of more than a few layers (3.4e-2, 28 layers in bf16 on an
# H200): there the error of plain code is what counts.
SEEN = {
    "attention": {DType.BF16: 3.9e-3, DType.FP16: 5.0e-4, DType.FP32: 2.6e-7},
    "swiglu": {DType.BF16: 5.8e-3, DType.FP16: 6.1e-4, DType.FP32: 4.4e-7},
    "residual_rms_norm": {DType.BF16: 3.1e-3, DType.FP16: 3.9e-4, DType.FP32: 6.6e-8},
    "decoder_prefill": {DType.BF16: 6.6e-3, DType.FP16: 8.9e-4, DType.FP32: 4.5e-7},
}


def of_dtype(dtype: DType) -> float:
    """For one operator computed from inputs of `dtype`."""
    return TOLERANCES[dtype]
