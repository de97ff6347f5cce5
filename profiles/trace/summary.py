"""What `fusescope trace FILE --json` prints: the facts of a whole recording."""

from __future__ import annotations

import msgspec

from profiles.results import Finding
from profiles.trace.model import Trace


class DeviceSummary(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    name: str | None
    kernel_busy_ns: int
    gpu_busy_ns: int


class StepSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`kernels` were launched inside the step's annotation; None where that cannot be told (a finding says why)."""

    name: str
    kernels: int | None


class TraceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of records are facts and may be 0; what cannot be told is None.

    Busy is the union of intervals per device, added over devices; the span reaches from the first start to the last
    end of GPU activity. Timestamps are always read as `unit`.
    """

    kernels: int
    memcpy: int
    memset: int
    launches: int
    graph_launches: int
    linked_kernels: int
    kernel_sum_ns: int
    kernel_busy_ns: int
    gpu_busy_ns: int
    gpu_span_ns: int | None
    distinct_kernel_names: int
    kernels_from_graph_launches: int
    devices: tuple[DeviceSummary, ...]
    steps: tuple[StepSummary, ...]
    launched_before_window: int | None
    health: tuple[Finding, ...]
    format: str
    unit: str
    records: int


def summarise(trace: Trace) -> TraceSummary:
    raise NotImplementedError
