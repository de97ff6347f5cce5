"""The parts of results that are stored as JSON within a row."""

from __future__ import annotations

import msgspec

from profiles.ceilings import Costs
from profiles.compilation import Artefact, Compilation
from profiles.protocol import Phase
from profiles.recorded import KernelCauses, Recorded
from profiles.results import Block, Conditions, Correctness, Counts, DeepProfile, Finding, Metric, Receipt, Role
from profiles.trace.causes import Cause
from profiles.trace.timeline import Step, TimelineTrack
from profiles.visits import Walked


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a run says beside its status, failure, metrics and kernels."""

    counts: Counts | None = None
    correctness: Correctness | None = None
    receipt: Receipt | None = None
    trace_health: tuple[Finding, ...] = ()
    trace: str | None = None
    conditions: Conditions | None = None
    blocks: tuple[Block, ...] = ()
    costs: Costs | None = None
    visits: Walked | None = None
    compilation: Compilation | None = None
    dispatch: tuple[Receipt, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    deep: DeepProfile | None = None
    twin: tuple[Metric, ...] = ()
    notes: tuple[str, ...] = ()
    recorded: Recorded | None = None
    causes: tuple[KernelCauses, ...] = ()


class VariantSteps(msgspec.Struct, frozen=True, kw_only=True):
    """Where a variant of a running trial is."""

    variant: str
    passed: tuple[Phase, ...] = ()
    current: Phase | None = None
    so_far: str | None = None


class TimelineTables(msgspec.Struct, frozen=True, kw_only=True):
    """What the columns of a timeline index."""

    tracks: tuple[TimelineTrack, ...]
    names: tuple[str, ...]
    short_names: tuple[str, ...]
    roles: tuple[Role, ...]
    stage_sets: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    causes: tuple[Cause, ...] = (Cause(),)
