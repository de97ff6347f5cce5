"""Which numbers a finding makes doubtful: the fields of a recording's summary and of a run, as findings name them."""

from __future__ import annotations

TIMES = ("kernel_sum_ns", "kernel_busy_ns", "gpu_busy_ns")
IDLE = ("idle", "devices.idle")
PER_STEP = ("steps.kernels", "counts.kernels", "counts.memcpy", "counts.memset", "traced_device_time")
# Of records of the GPU that are in none of them, whatever kept them out: what ran then looks like a gap.
LEFT_OUT = ("kernels", "memcpy", "memset", *TIMES, "gpu_span_ns", *IDLE, *PER_STEP)
