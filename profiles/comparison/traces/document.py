"""What comparing traces says, as typed records: the JSON of `fusescope compare A.json.gz B.json.gz` and of the pages.

Fields may be added, never change their meaning; what is unknown is None. Times are integer ns. Each number in doubt
has its reason beside it.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from profiles.comparison.traces.entry import Basis
from profiles.results import Finding, Role


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number of one trace: of its steps the middle one (of two the lower, steps that launched nothing passed over),
    or of its whole recording. `low` and `high` bound all of its steps where there are several; a count whose bounds
    differ is unstable. `doubt` says why the number is in doubt."""

    value: int | None
    low: int | None = None
    high: int | None = None
    doubt: str | None = None


class What(StrEnum):
    """The counts that are compared, each apart."""

    KERNELS = "kernels"
    COPIES = "copies"
    FILLS = "fills"
    LAUNCHES = "launches"
    GRAPH_LAUNCHES = "graph launches"


class CountDifference(msgspec.Struct, frozen=True, kw_only=True):
    """`difference` is the candidate's less the baseline's, None where one is not known."""

    what: What
    baseline: Figure
    candidate: Figure
    difference: int | None


class TimeDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A time in ns. `ratio` is the candidate's over the baseline's: a fact of two recordings, no verdict."""

    baseline: Figure
    candidate: Figure
    difference_ns: int | None
    ratio: float | None


class RoleDifference(msgspec.Struct, frozen=True, kw_only=True):
    role: Role
    kernels: CountDifference
    time: TimeDifference


class Change(StrEnum):
    """Of a kernel's name between two traces. `changed`: other calls, or a time that differs by more than 5 % and
    whose steps' spread does not meet the other's."""

    ADDED = "added"
    VANISHED = "vanished"
    CHANGED = "changed"
    EQUAL = "equal"


class KernelDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel by its full name. Without it on a side, that side's calls and time are 0. `per_call_ratio` is the
    candidate's time per call over the baseline's, None where one has no calls; `launched_by` the innermost operators
    of the side that has them, the candidate's first."""

    name: str
    short_name: str
    role: Role
    change: Change
    calls: CountDifference
    time: TimeDifference
    per_call_ratio: float | None
    launched_by: tuple[str, ...] = ()


class Ground(StrEnum):
    """What a structural match rests on, the surest first."""

    NAME = "same name"
    OPERATOR = "same operator at the same place"
    LIKE_NAME = "same short name at the same place"
    MODULE = "same module at the same place"
    FUSED = "operators fused into it"
    ROLE = "same role at the same place"
    BETWEEN = "between the same neighbours"


class MatchedKernel(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    short_name: str
    role: Role
    calls: int
    total_ns: int


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """What one side does with `baseline`, the other with `candidate`: kernels of one place, added up over all `places`
    where the same ones meet on the same ground. One kernel may face several (a fusion, a helper)."""

    ground: Ground
    places: int
    operator: str | None
    module: str | None
    baseline: tuple[MatchedKernel, ...]
    candidate: tuple[MatchedKernel, ...]
    time: TimeDifference


class OperatorTime(msgspec.Struct, frozen=True, kw_only=True):
    """The matches of one outermost operator; None: those without any."""

    operator: str | None
    places: int
    time: TimeDifference


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one trace's sequence is matched. `unmatched` are the kernels left over, the longest first."""

    kernels: int
    matched: int
    total_ns: int
    matched_ns: int
    unmatched: tuple[MatchedKernel, ...]


class Matching(msgspec.Struct, frozen=True, kw_only=True):
    """Two sequences of kernels (`steps`: the names of the typical steps, None for a whole recording) laid side by side.
    `cut` is how many places of the longer sequence were left out by the limit."""

    steps: tuple[str | None, str | None]
    baseline: Side
    candidate: Side
    matches: tuple[Match, ...]
    operators: tuple[OperatorTime, ...]
    ambiguous: int
    cut: int = 0


class TraceDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate against the baseline. `incomparable` says why counts carry no verdict (another vendor's hardware),
    None where they can be compared. `other_devices` says which models of one vendor's both were recorded on where they
    differ: counts are judged, times compare the devices too. `kernels` come by the difference of time, the largest
    first. `matching` is None where a side has no sequence of kernels."""

    baseline: str
    candidate: str
    basis: Basis
    basis_reason: str | None
    incomparable: str | None
    other_devices: str | None = None
    counts: tuple[CountDifference, ...]
    kernel_time: TimeDifference
    span: TimeDifference
    roles: tuple[RoleDifference, ...]
    kernels: tuple[KernelDifference, ...]
    matching: Matching | None

    def of(self, change: Change) -> tuple[KernelDifference, ...]:
        return tuple(kernel for kernel in self.kernels if kernel.change is change)


class TraceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One trace by itself, on its own basis. `source` says where it comes from."""

    key: str
    label: str
    source: str | None
    baseline: bool
    format: str
    devices: tuple[str, ...]
    vendor: str | None
    rank: int | None
    world_size: int | None
    basis: Basis
    steps: int
    kernels: Figure
    copies: Figure
    fills: Figure
    launches: Figure
    graph_launches: Figure
    kernel_time: Figure
    span: Figure
    roles: tuple[tuple[Role, Figure], ...]
    health: tuple[Finding, ...]


class RankFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One rank of a job over its whole recording; step times are the middle step's, `own_low_ns` and `own_high_ns` the
    bounds of all of them.

    `exposed_ns` is communication without another kernel beside it; `step_ns` a step's time on the device, and
    `own_step_ns` that less its exposed communication: what the rank needs by itself.
    """

    key: str
    label: str
    rank: int
    host: str | None
    steps: int
    kernel_busy_ns: int | None
    busy_ns: int | None
    idle_ns: int | None
    communication_ns: int | None
    overlapped_ns: int | None
    exposed_ns: int | None
    step_ns: int | None
    own_step_ns: int | None
    own_low_ns: int | None
    own_high_ns: int | None


class JobRanks(msgspec.Struct, frozen=True, kw_only=True):
    """Traces of one distributed job. `grouped_by` says why they are held to be of one, `missing` how many ranks are not
    there and `here` which are, in words. `straggler` is the key of a rank's trace, None where none stands out or it
    cannot be told; `words` say which."""

    world_size: int
    backend: str | None
    grouped_by: str
    ranks: tuple[RankFacts, ...]
    missing: int
    here: str
    straggler: str | None
    words: str


class ComparedTraces(msgspec.Struct, frozen=True, kw_only=True):
    """`failed_on` has a line for each change that was asked to be failed on and is there; `not_judged` says why one of
    them could not be judged."""

    baseline: str
    answer: str
    caveat: str | None
    traces: tuple[TraceFacts, ...]
    differences: tuple[TraceDifference, ...]
    jobs: tuple[JobRanks, ...]
    failed_on: tuple[str, ...] = ()
    not_judged: str | None = None
