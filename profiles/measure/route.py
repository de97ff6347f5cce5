"""The workloads that a walk visits, by their values, and the one beside them that comes first."""

from __future__ import annotations

from profiles import catalog
from profiles.plan import Walk
from profiles.workload import Workload


class Route:
    """`values` of the walked axis, in order."""

    def __init__(self, workload: Workload, walk: Walk) -> None:
        self._workload, self.axis = workload, walk.axis
        self._noun = catalog.operation(workload.operation).axis(walk.axis).noun
        self.values = walk.values(int(workload.axes[walk.axis]))

    def at(self, value: int) -> Workload:
        return catalog.at(self._workload, self.axis, value)

    def name(self, value: int) -> str:
        """`KV length 551`."""
        return f"{self._noun} {value}"

    def whole(self, value: int) -> str:
        """`KV length 551 of 512…575`."""
        return f"{self.name(value)} of {self.values[0]}…{self.values[-1]}"

    @property
    def beside(self) -> int:
        """A value next to the walk that is not on it: the shape that a process is warmed up with."""
        before = self.values[0] - self.values.step
        return before if before >= 1 else self.values[-1] + self.values.step
