"""The chart of all samples."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.charts.samples import DARK, GAP, has_samples, samples_figure
from profiles.comparison.entry import MeasuredEntry
from profiles.comparison.speed import By
from profiles.plan import Plan
from profiles.results import Metric, Run, RunStatus
from tests.profiles.comparison.ladder import H200, WORKLOAD


def entry(key: str, variant: str, samples: tuple[float, ...] | None) -> MeasuredEntry:
    time = Metric(name="gpu_time", unit="ns", statistic="median", value=2000.0, samples=samples)
    run = Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(time,))
    return MeasuredEntry(key=key, variant=variant, run=run, workload=WORKLOAD, plan=Plan(), environment=H200)


def test_every_sample_stands_at_its_distance_from_the_median_in_its_order() -> None:
    entries = [entry("A", "naive", (1000.0, 3000.0, 2000.0)), entry("B", "sdpa_flash", (2200.0, 2000.0))]
    figure = samples_figure(entries, by=By.GPU_TIME, base_key="A", dark=False)
    assert figure is not None
    first, second = figure.data
    assert list(first.x) == [-50.0, 50.0, 0.0]
    assert list(second.x) == pytest.approx([10.0, 0.0])
    assert list(first.y) == sorted(first.y)
    assert first.text[1] == "3.0 µs<br>sample 2 of 3"
    assert list(figure.layout.yaxis.ticktext) == ["A  naive", "B  sdpa_flash"]


def test_rows_do_not_touch_and_follow_the_theme() -> None:
    entries = [entry("A", "naive", (1.0, 2.0)), entry("B", "sdpa_flash", (1.0, 2.0))]
    figure = samples_figure(entries, by=By.GPU_TIME, base_key=None, dark=True)
    assert figure is not None
    first, second = figure.data
    assert max(first.y) < min(second.y)
    assert figure.layout.xaxis.gridcolor == DARK.hairline


def test_without_samples_there_is_no_chart() -> None:
    assert not has_samples([entry("A", "naive", None)], By.GPU_TIME)
    assert has_samples([entry("A", "naive", (1.0,))], By.GPU_TIME)
    assert samples_figure([entry("A", "naive", None)], by=By.GPU_TIME, base_key="A", dark=False) is None
    assert samples_figure([entry("A", "naive", (1.0,))], by=By.CALL_TIME, base_key="A", dark=False) is None


def test_builds_stand_in_the_order_of_time_apart_and_in_two_colours_with_their_medians() -> None:
    time = Metric(
        name="gpu_time",
        unit="ns",
        statistic="median",
        value=2000.0,
        samples=(2200.0, 2200.0, 1800.0, 1900.0),
        builds=(1, 1, 0, 0),
        at_s=(2.0, 3.0, 0.0, 1.0),
    )
    run = Run(variant="naive", status=RunStatus.SUCCEEDED, metrics=(time,))
    one = MeasuredEntry(key="A", variant="naive", run=run, workload=WORKLOAD, plan=Plan(), environment=H200)
    figure = samples_figure([one], by=By.GPU_TIME, base_key="A", dark=False)
    assert figure is not None
    points, medians = figure.data
    assert list(points.x) == pytest.approx([-10.0, -5.0, 10.0, 10.0])
    steps = [after - before for before, after in pairwise(points.y)]
    assert steps[0] == pytest.approx(steps[2])
    assert steps[1] == pytest.approx((1 + GAP) * steps[0])
    assert points.marker.color[0] == points.marker.color[1] != points.marker.color[2]
    assert points.text[2] == "2.2 µs<br>sample 3 of 4<br>build 2"
    assert list(medians.x) == pytest.approx([-7.5, 10.0])
