"""One trace of a comparison, wherever it comes from: a file, an imported trace, a run's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

from profiles.trace.contents import TraceContents, Work
from profiles.trace.summary import TraceSummary

FEWEST, MOST = 2, 8
NVIDIA, AMD = "NVIDIA", "AMD"
_NO_GPU = ("gpu_records_missing", "other_accelerator", "no_gpu_records", "no_gpu_activity")
_VENDORS = (
    (NVIDIA, re.compile(r"NVIDIA|Tesla|GeForce|Quadro|\b[AHBVPLT]\d{2,4}\b")),
    (AMD, re.compile(r"AMD|Radeon|Instinct|\bMI\d{2,3}")),
)


class ComparedTrace(Protocol):
    """`key` is its letter (A, B …), `label` what people call it. `contents` is None of traces stored before there were
    any: those have their summary's figures only."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def summary(self) -> TraceSummary: ...
    @property
    def contents(self) -> TraceContents | None: ...


TraceT = TypeVar("TraceT", bound=ComparedTrace)


class Basis(StrEnum):
    """What numbers are of. Per step wherever both sides tell their steps."""

    STEP = "per step"
    WHOLE = "whole recording"


def basis_of(trace: ComparedTrace) -> tuple[Basis, str | None]:
    """Per step where every step's counts are told; else of all that was recorded, and why."""
    held = trace.contents
    if held is None:
        return Basis.WHOLE, "its steps were not kept when it was stored"
    if not held.steps:
        return Basis.WHOLE, "no steps are marked in it"
    if any(step.work.kernels is None for step in held.steps):
        return Basis.WHOLE, "the counts of its steps cannot be told"
    return Basis.STEP, None


def common_basis(traces: Sequence[ComparedTrace]) -> tuple[Basis, str | None]:
    """Of several side by side: per step where all of them can tell theirs."""
    for trace in traces:
        basis, reason = basis_of(trace)
        if basis is Basis.WHOLE:
            return basis, f"{trace.key}: {reason}"
    return Basis.STEP, None


def working_steps(held: TraceContents) -> tuple[int, ...]:
    """The places of the steps that counts are taken from. One that launched nothing (a mark after the last step) is
    passed over, unless all of them are like that."""
    working = [at for at, step in enumerate(held.steps) if _worked(step.work)]
    return tuple(working or range(len(held.steps)))


def works(trace: ComparedTrace) -> list[Work]:
    """What was done in each of those steps; nothing is known where they were not kept."""
    held = trace.contents
    return [] if held is None else [held.steps[at].work for at in working_steps(held)]


def without_gpu(trace: ComparedTrace) -> str | None:
    """Why a recording says nothing of a GPU's work, so that its 0 kernels are none to compare with; else None."""
    summary = trace.summary
    if summary.kernels or summary.memcpy or summary.memset:
        return None
    named = [finding.message for finding in summary.health if finding.code in _NO_GPU]
    return next(iter(named), None if summary.launches else "nothing that a GPU did is in the recording")


def vendor_of(trace: ComparedTrace) -> str | None:
    """By the calls that launch, else by the devices' names; None where neither tells."""
    api = trace.contents.api if trace.contents is not None else None
    if api is not None:
        return {"cuda": NVIDIA, "hip": AMD}.get(api)
    names = " ".join(device.name or "" for device in trace.summary.devices)
    found = [vendor for vendor, pattern in _VENDORS if pattern.search(names)]
    return found[0] if len(found) == 1 else None


def models_of(trace: ComparedTrace) -> tuple[str, ...]:
    """The models of the devices that it was recorded on, in alphabetical order; none where one of them is not told."""
    names = {" ".join((device.name or "").split()) for device in trace.summary.devices}
    return () if "" in names else tuple(sorted(names))


def _worked(work: Work) -> bool:
    return any((work.kernels, work.copies, work.fills, work.launches, work.graph_launches))
