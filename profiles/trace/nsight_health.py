"""What the reader of Nsight Systems exports notices, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from profiles.results import Finding
from profiles.trace.doubts import LEFT_OUT
from profiles.trace.wording import counted


@dataclass(slots=True)
class Seen:
    """Counted while reading. `whole_graphs` are graph launches recorded as one slice each, `stepping` the processes
    that mark steps."""

    malformed: int = 0
    nameless: int = 0
    open_ranges: int = 0
    whole_graphs: int = 0
    stepping: set[int] = field(default_factory=set)
    on_gpu: bool = True
    calls: bool = True


def findings(seen: Seen) -> Iterator[Finding]:
    yield from _missing(seen)
    if seen.malformed:
        yield Finding(
            code="malformed_records",
            message=f"{counted(seen.malformed, 'record')} whose start or end is no whole number of ns within 146 years,"
            " left out",
            count=seen.malformed,
            doubtful=("launches", *LEFT_OUT),
        )
    if seen.whole_graphs:
        yield Finding(
            code="graphs_as_wholes",
            message=f"{counted(seen.whole_graphs, 'graph launch', 'graph launches')} recorded as wholes: their kernels,"
            " copies and fills are not in the file (nsys profile --cuda-graph-trace=node records them)",
            count=seen.whole_graphs,
            doubtful=("kernels_from_graph_launches", *LEFT_OUT),
        )
    if seen.open_ranges:
        message = f"{counted(seen.open_ranges, 'NVTX range')} that the recording does not see end: not shown"
        yield Finding(code="open_ranges", message=message, count=seen.open_ranges)
    if len(seen.stepping) > 1:
        yield Finding(
            code="steps_of_several_processes",
            message=f"{len(seen.stepping):,} processes mark steps: of equal names the longest counts, for the launches"
            " of all of them",
            count=len(seen.stepping),
            doubtful=("steps.kernels",),
        )


def _missing(seen: Seen) -> Iterator[Finding]:
    if seen.on_gpu:
        return
    remedy = (
        ": its calls were recorded, what the GPU did was lost"
        if seen.calls
        else (": nsys was run without --trace=cuda, or nothing ran on a GPU")
    )
    yield Finding(
        code="no_gpu_records",
        message=f"this export has no GPU records{remedy}",
        count=1,
        doubtful=("launches", *LEFT_OUT),
    )
