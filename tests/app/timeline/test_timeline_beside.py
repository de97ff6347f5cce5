"""The view of the address on the server, and its tables and bars: what is left out is told."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from app.timeline.bars import COLOURS, MOST_BARS, bars_figure
from app.timeline.component import CANVAS
from app.timeline.doubts import doubts
from app.timeline.listed import MOST_LISTED, Listed, listed_html
from app.timeline.ranges import summarise
from app.timeline.shown import Part, show
from app.timeline.view import View, read_view, span_of
from benchmarks.timeline_frames import synthetic
from profiles.results import Finding, Role
from profiles.trace.timeline import Timeline
from tests.app.timeline.drawn import timeline_of_run
from tests.app.timeline.random_timelines import random_timeline
from tests.profiles.comparison.ladder import ladder_runs

TOLD = "100.00~9000.00;a=start;f=A.launches;r=200.000~900.500;s=A.1.8000;q=a;r=1~2"


def test_an_address_tells_zoom_range_and_part_and_the_range_is_shown() -> None:
    view = read_view(TOLD)
    assert view == View(Part.ALL, (100_000, 9_000_000), (200_000, 900_500))
    shown = show(timeline_of_run(ladder_runs()[0]), Part.TYPICAL)
    assert span_of(view, shown) == (shown.zero_ns + 200_000, shown.zero_ns + 900_500)
    assert span_of(replace(view, range=None), shown) == (shown.zero_ns + 100_000, shown.zero_ns + 9_000_000)
    assert span_of(View(), shown) == shown.ends_ns


@pytest.mark.parametrize("text", [None, "", "whole", "x~y;a=;r=9~1;s=<b>", "1~" + "9" * 40, "~;=;;r", "nan~inf"])
def test_whatever_else_an_address_says_all_is_shown(text: str | None) -> None:
    assert read_view(text) == View()


def test_a_table_lists_the_longest_kernels_escaped_and_tells_how_many_more() -> None:
    found = doubts((Finding(code="x", message="<i>lost</i>", count=1, doubtful=("kernels",)),), of_step=False)
    lane = _listed(synthetic(2_000, 1))
    html = listed_html(replace(lane, found=msgspec.structs.replace(lane.found, doubts=found)))
    assert html.count("<tr>") == 1 + MOST_LISTED
    assert re.search(r"40 more names, \d+\.\d % of the time", html)
    assert "&lt;i&gt;lost&lt;/i&gt;" in html
    assert "<i>lost" not in html
    evil = listed_html(_listed(random_timeline(200, seed=1)))
    assert "<script" not in evil
    assert "evil&lt;/script&gt;" in evil


def test_bars_are_the_longest_slices_and_the_rest_is_counted() -> None:
    lanes = [_listed(synthetic(10_000, seed)) for seed in (1, 2)]
    bars = bars_figure(lanes, dark=False)
    assert (bars.drawn, bars.slices) == (MOST_BARS, 10_000)
    assert sum(len(trace.x) for trace in bars.figure.data) == MOST_BARS
    shortest = min(min(trace.x) for trace in bars.figure.data) * 1e3
    kernels = np.sort(np.concatenate([lane.shown.duration_ns[lane.shown.work()] for lane in lanes]))
    assert shortest >= kernels[-int(MOST_BARS * 1.1)]
    assert {str(role) for role in bars.roles} == {trace.name for trace in bars.figure.data}
    assert len(bars.roles) == 6


def test_overlapping_slices_have_bars_on_rows_of_their_own_and_names_are_no_markup() -> None:
    figure = bars_figure([_listed(random_timeline(400, seed=2))], dark=True).figure
    rows = {row for trace in figure.data for row in trace.y}
    assert any(row.endswith(", overlapping") for row in rows)
    assert rows == set(figure.layout.yaxis.categoryarray)
    assert "</script>" not in "".join(text for trace in figure.data for text in trace.text)


def test_roles_have_the_colours_of_the_canvas() -> None:
    palette = (CANVAS / "palette.js").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r'(\w+): \["(#\w{6})"', part)) for part in palette.split("dark: {")[:2])
    assert {str(role): pair for role, pair in COLOURS.items()} == {
        str(role): (light[role], dark[role]) for role in Role
    }


def _listed(drawn: Timeline) -> Listed:
    shown = show(drawn)
    return Listed(key="A", label="run", baseline=True, shown=shown, found=summarise(shown, *span_of(View(), shown)))
