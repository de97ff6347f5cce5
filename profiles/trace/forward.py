"""What one run's trace says per forward pass: counts, the kernels with their roles and stages, device time."""

from __future__ import annotations

import msgspec

from profiles.results import Counts, Finding, KernelUse
from profiles.trace.model import Trace


class ForwardSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`device_time_ns` holds each traced step's sum of kernel durations, in order; empty on a CPU."""

    counts: Counts
    kernels: tuple[KernelUse, ...]
    device_time_ns: tuple[int, ...]
    findings: tuple[Finding, ...]


def per_forward(trace: Trace, *, device: str) -> ForwardSummary:
    """Of the steps annotated `fusescope.forward#N`, else `ProfilerStep#N`; `device` is `cpu` or `cuda:N`."""
    raise NotImplementedError
