"""What one forward pass's recording says beside its counts: idle time, overlap, and how sure the counts are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from profiles.recorded import KernelCauses, Recorded
from profiles.trace.attribution import attribution, joined
from profiles.trace.gaps import GapJudge, find_gaps
from profiles.trace.health import Unlinked
from profiles.trace.intervals import span_ns, stream_overlap
from profiles.trace.launches import Launches
from profiles.trace.model import SliceKind, Trace
from profiles.trace.steps import Step


def recorded(
    trace: Trace, launches: Launches, steps: Sequence[Step], unlinked: Unlinked, *, causes: Sequence[KernelCauses]
) -> Recorded | None:
    """`causes` are those of the run's kernels.

    Of the pass of middle length on the device, so that its idle times add up; None where no pass has slices.
    """
    passes = sorted((span, number) for number, step in enumerate(steps) if (span := span_ns(trace.slices, step.slices)))
    if not passes:
        return None
    span, number = passes[(len(passes) - 1) // 2]
    rows = np.sort(steps[number].slices)
    return Recorded(
        span_ns=span,
        idle=GapJudge(trace, launches, steps).idle(find_gaps(trace, rows)),
        stream_overlap_ns=stream_overlap(trace.slices, rows).time_ns,
        kernels=attribution(joined(trace, launches, unlinked), trace.slices.of(SliceKind.KERNEL)),
        launched_by=tuple(cause.operators for cause in causes),
    )
