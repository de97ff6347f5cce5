"""What a variant's own processes found out before the session that checks and times it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from profiles.measure.compile_report import CompileReport
from profiles.measure.messages import NewShape
from profiles.measure.metrics import single_metric
from profiles.results import Metric
from profiles.visits import Walked


@dataclass(slots=True)
class Beforehand:
    """Times in ns. `first_call_ns` is None where the session itself is to make the first call."""

    first_call_ns: int | None = None
    new_shape: NewShape | None = None
    walked: Walked | None = None
    compiled: CompileReport | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        note = self.new_shape.note if self.new_shape is not None else None
        return () if note is None else (note,)

    def metrics(self) -> Iterator[Metric]:
        if self.first_call_ns is not None:
            yield single_metric("first_call", "ns", self.first_call_ns)
        if self.new_shape is not None and self.new_shape.first_ns is not None:
            yield single_metric("first_shape", "ns", self.new_shape.first_ns)
        if self.new_shape is not None and self.new_shape.second_ns is not None:
            yield single_metric("second_visit", "ns", self.new_shape.second_ns)
