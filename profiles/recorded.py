"""What a recording says beside its counts: how sure they are, and why the GPU was idle."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """How GPU slices of one kind were joined to the calls that launched them.

    `exact`: by the correlation of a call that starts one thing. `by_graph`: by the correlation of a graph launch, which
    starts many. `inferred`: no call in the file; by order, launched before the recording began. `unknown`: none of it.
    """

    exact: int = 0
    by_graph: int = 0
    inferred: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        return self.exact + self.by_graph + self.inferred + self.unknown

    @property
    def coverage(self) -> float | None:
        """The share whose launching call is in the file; None where there is nothing to join."""
        return (self.exact + self.by_graph) / self.total if self.total else None


class KernelCauses(msgspec.Struct, frozen=True, kw_only=True):
    """What launched one kernel (or on a CPU ran around one operator): innermost operators, nn.Module paths and lines of
    code, each the most frequent first. `inferred`: some of it is told by an uncaptured pass of the same kernels.
    `launch_calls` are the calls that launched the run's own kernels."""

    operators: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    inferred: bool = False
    launch_calls: tuple[str, ...] = ()


class GapCause(StrEnum):
    """Why a device had nothing to do until its next slice began. The first that holds, in this order."""

    NOT_KNOWN = "not known"
    BETWEEN_STEPS = "between steps"
    SYNCHRONISATION = "synchronisation"
    HOST_LATE = "host late"
    DEPENDENCY = "waiting for a dependency"
    UNEXPLAINED = "unexplained"
    BETWEEN_SLICES = "between kernels"


class Idle(msgspec.Struct, frozen=True, kw_only=True):
    """The gaps of one cause: how many, how long together, and the longest."""

    cause: GapCause
    count: int
    total_ns: int
    longest_ns: int


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Of the traced forward pass of middle length on the device: `span_ns` from its first slice's start to its last
    one's end, the idle time within by cause, and the time in which slices of one stream overlapped. `kernels` is how
    the kernels of the whole recording were attributed. `launched_by` has for each of the run's kernels, in their order,
    the innermost operators that launched it (of a graph's, inferred ones); none where no operator is told."""

    span_ns: int
    idle: tuple[Idle, ...]
    stream_overlap_ns: int
    kernels: Attribution
    launched_by: tuple[tuple[str, ...], ...] = ()
