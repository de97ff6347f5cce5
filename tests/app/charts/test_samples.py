"""The chart of all samples."""

from __future__ import annotations

import math

from app.charts.samples import DARK, samples_figure
from profiles.comparison.entry import MeasuredEntry
from profiles.comparison.speed import By
from profiles.plan import Plan
from profiles.results import Metric, Run, RunStatus
from tests.profiles.comparison.ladder import H200, WORKLOAD


def entry(key: str, variant: str, samples: tuple[float, ...] | None) -> MeasuredEntry:
    time = Metric(name="gpu_time", unit="ns", statistic="median", value=2000.0, samples=samples)
    run = Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(time,))
    return MeasuredEntry(key=key, variant=variant, run=run, workload=WORKLOAD, plan=Plan(), environment=H200)


def test_every_sample_is_drawn_in_the_column_s_unit_and_in_its_order() -> None:
    entries = [entry("A", "naive", (1000.0, 3000.0, 2000.0)), entry("B", "sdpa_flash", (500.0, 500.0))]
    figure = samples_figure(entries, by=By.GPU_TIME, base_key="A", dark=False)
    assert figure is not None
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [list(trace.x) for trace in points] == [[1.0, 3.0, 2.0], [0.5, 0.5]]
    assert list(points[0].y) == sorted(points[0].y)
    assert list(figure.layout.yaxis.ticktext) == ["A  naive", "B  sdpa_flash"]
    assert figure.layout.xaxis.title.text == "GPU time, µs"


def test_rows_do_not_touch_and_the_median_stands_in_its_row() -> None:
    entries = [entry("A", "naive", (1.0, 2.0)), entry("B", "sdpa_flash", (1.0, 2.0))]
    figure = samples_figure(entries, by=By.GPU_TIME, base_key=None, dark=True)
    assert figure is not None
    first, median, second, _ = figure.data
    assert max(first.y) < min(second.y)
    assert list(median.x) == [2.0, 2.0]
    assert math.isclose(sum(median.y), 0, abs_tol=1e-9)
    assert figure.layout.xaxis.gridcolor == DARK.hairline


def test_without_samples_there_is_no_chart() -> None:
    assert samples_figure([entry("A", "naive", None)], by=By.GPU_TIME, base_key="A", dark=False) is None
    assert samples_figure([entry("A", "naive", (1.0,))], by=By.CALL_TIME, base_key="A", dark=False) is None
