"""One trace of a comparison, wherever it comes from: a file, an imported trace, a run's."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, TypeVar

from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary

FEWEST, MOST = 2, 8


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
