"""What timing finds out about one candidate, and the metrics that it becomes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from profiles.measure import cupti_time, gpu_time
from profiles.measure.builds import Place
from profiles.measure.conditions import Observer
from profiles.measure.energy import Energy
from profiles.measure.gpu_time import GatedTimer
from profiles.measure.graph_time import Replay
from profiles.measure.host_time import HostTimer
from profiles.measure.metrics import single_metric, time_metric
from profiles.measure.rounds import LEAST_SAMPLES, Pace
from profiles.measure.samples import Series
from profiles.results import Metric

GRAPH_REPLAY = "graph replay"
RECORDED = "recorded"  # the series of the device's busy time; it becomes gpu_time where no gate holds a call


@dataclass(slots=True)
class Times:
    """`series` has the samples by the metric's name. `seconds_per_call` is how long a call took last, roughly."""

    seconds_per_call: float = 0.0
    pace: Pace | None = None
    place: Place | None = None
    gated: GatedTimer | None = None
    host: HostTimer | None = None
    replay: Replay | None = None
    graph_pool_bytes: int | None = None
    graph_doubt: str | None = None
    energy: Energy | None = None
    series: defaultdict[str, Series] = field(default_factory=lambda: defaultdict(Series))
    capturable: bool = True
    recordable: bool = True
    notes: list[str] = field(default_factory=list)
    observer: Observer = field(default_factory=Observer)

    def add(self, name: str, ns: float, *, at_s: float) -> None:
        assert self.place is not None, "samples are taken within a build"
        self.series[name].add(ns, build=self.place.build, at_s=at_s)

    @property
    def principal(self) -> str:
        """The time that decides: the device's own where a gate holds the calls, else that of calls back to back."""
        return "call_time" if self.gated is None or self.gated.gave_up else "gpu_time"

    @property
    def so_far(self) -> str | None:
        """The principal time for people who watch."""
        taken = self.series.get(self.principal) or self.series.get("call_time")
        return f"{taken.median / 1e3:,.1f} µs" if taken else None

    @property
    def all_notes(self) -> tuple[str, ...]:
        late = self.gated.late if self.gated is not None else 0
        if late and not (self.gated and self.gated.gave_up):
            word = "sample was" if late == 1 else "samples were"
            return (*self.notes, f"gpu_time: {late:,} late {word} void and taken again behind a longer gate")
        return tuple(self.notes)

    def metrics(self) -> Iterator[Metric]:
        """The repeated times, the device's own first where there is one; then energy and the graph's memory."""
        if self.gated is not None:
            yield self._gpu_time(self.gated)
        for name in ("call_time", "sync_time", "host_time", "graph_time"):
            if series := self.series.get(name):
                yield self._time(name, series, doubt=self._doubt(name))
        if self.graph_pool_bytes is not None:
            yield single_metric("graph_pool_memory", "bytes", self.graph_pool_bytes, statistic="max")
        if self.energy is not None:
            yield from _energy_metrics(self.energy)

    def _gpu_time(self, gated: GatedTimer) -> Metric:
        """By the gate; where that gave up by the driver's records, or by replays of a graph; else with a doubt."""
        series, method, doubt = self.series["gpu_time"], gpu_time.METHOD, gated.doubt
        if gated.gave_up and (recorded := self.series.get(RECORDED)):
            series, method, doubt = recorded, cupti_time.METHOD, None
        elif gated.gave_up and (replayed := self.series.get("graph_time")):
            series, method, doubt = replayed, GRAPH_REPLAY, self.graph_doubt
        return self._time("gpu_time", series, method=method, doubt=doubt)

    def _time(self, name: str, series: Series, *, method: str | None = None, doubt: str | None) -> Metric:
        return time_metric(
            name,
            series.values,
            builds=series.builds,
            at_s=series.at_s,
            method=method,
            doubt=doubt or self._too_few(series),
        )

    def _too_few(self, series: Series) -> str | None:
        assert self.pace is not None, "the warm-up sets it"
        if self.pace.doubt is not None:
            return self.pace.doubt
        builds = len(set(series.builds))
        if len(series) < LEAST_SAMPLES or builds < self.pace.builds:
            return f"only {len(series)} samples in {builds} of {self.pace.builds} builds fitted into the budget"
        return None

    def _doubt(self, name: str) -> str | None:
        if name == "graph_time":
            return self.graph_doubt
        if name == "host_time" and self.gated is not None and self.gated.gave_up:
            return "no gate can hold a call: where the driver's queue was full, waits for the device are included"
        return None


def _energy_metrics(energy: Energy) -> Iterator[Metric]:
    statistic = f"mean of {energy.calls:,} calls"
    yield single_metric("energy_gross", "J", energy.gross_j, statistic=statistic, method=energy.method)
    yield single_metric("energy_net", "J", energy.net_j, statistic=statistic, method=energy.method)
