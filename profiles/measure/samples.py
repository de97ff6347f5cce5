"""The samples of one repeated time, each with its build and the moment when it was taken."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field


@dataclass(slots=True)
class Series:
    """In the order of taking: ns per call, number of the build, seconds since the trial's timing began."""

    values: list[float] = field(default_factory=list)
    builds: list[int] = field(default_factory=list)
    at_s: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.values)

    def add(self, ns: float, *, build: int, at_s: float) -> None:
        self.values.append(ns)
        self.builds.append(build)
        self.at_s.append(at_s)

    @property
    def median(self) -> float:
        return statistics.median(self.values)
