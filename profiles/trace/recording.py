"""What one forward pass's recording says beside its counts: idle time, overlap, and how sure the counts are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from profiles.recorded import Recorded
from profiles.results import KernelUse
from profiles.trace.attribution import attribution
from profiles.trace.gaps import GapJudge, find_gaps
from profiles.trace.health import Unlinked
from profiles.trace.intervals import span_ns, stream_overlap
from profiles.trace.kernel_table import operators_by_name
from profiles.trace.launches import Launches
from profiles.trace.model import SliceKind, Trace
from profiles.trace.steps import Step


def recorded(
    trace: Trace, launches: Launches, steps: Sequence[Step], unlinked: Unlinked, *, kernels: Sequence[KernelUse]
) -> Recorded | None:
    """`kernels` are the run's. Of the pass of middle length on the device, so that its idle times add up; None where no
    pass has slices."""
    passes = sorted((span, number) for number, step in enumerate(steps) if (span := span_ns(trace.slices, step.slices)))
    if not passes:
        return None
    span, number = passes[(len(passes) - 1) // 2]
    rows = np.sort(steps[number].slices)
    operators = operators_by_name(trace, launches, np.concatenate([step.slices for step in steps]))
    return Recorded(
        span_ns=span,
        idle=GapJudge(trace, launches, steps).idle(find_gaps(trace, rows)),
        stream_overlap_ns=stream_overlap(trace.slices, rows).time_ns,
        kernels=attribution(trace, launches, unlinked, trace.slices.of(SliceKind.KERNEL)),
        launched_by=tuple(operators.get(use.name, ()) for use in kernels),
    )
