"""The parts of one section under its table: timelines and the kernel list, each with its picker of letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from app.addresses import HISTORY, address
from app.charts.deep import deep_html
from app.charts.health import health_html
from app.charts.kernels import kernels_html
from app.charts.samples import has_samples, samples_figure
from app.charts.visit_tables import first_visits_html
from app.comparison.choice import Choice
from app.markup import link, page, section
from app.timeline.component import timelines
from app.timeline.lane import Lane
from app.timeline.opened import url_of_run
from app.traces.beside import query
from db.trace_comparisons import RUN
from db.views import ComparedRun
from profiles import catalog
from profiles.comparison.change import counted
from profiles.comparison.figures import ratio, time_unit
from profiles.comparison.recording import counts_doubt
from profiles.comparison.speed import TITLES, By, time
from profiles.comparison.table import Row

HINT = "drag to pan · W S zoom · shift-drag for a range · , . J K slices · / search · 0 all"
FIRST_LANES = 3
MOST_LANES = 8

ComparedRow = Row[ComparedRun]


def timeline_panel(rows: Sequence[ComparedRow], *, suffix: str, choice: Choice, token: str | None) -> None:
    """Lanes of the runs picked by letter; without a timeline in any run there is no panel."""
    drawn = {row.entry.key: row for row in rows if row.entry.has_timeline and row.entry.run_id is not None}
    if not drawn:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"panel-timelines{suffix}"):
        st.html(section("Timelines", aside="one forward pass each, from the traced pass"), width="content")
        picked = pick_lanes(list(drawn), choice.lanes, key=f"tv{suffix}")
        st.html(page(f'<div class="fs-hint">{HINT}</div>'))
    lanes = [_lane(row, choice, token) for key, row in drawn.items() if key in picked]
    if not lanes:
        st.caption("Pick a letter to draw its timeline.")
        return
    zoom = f"t{suffix}"
    shown = st.query_params.get(zoom, choice.zoom)
    timelines(lanes, part="pass", view=shown, key=f"timeline{suffix}", on_view=keep_view(zoom))
    if token is None:
        st.html(_elsewhere([row.entry for row in drawn.values()]))


def _elsewhere(entries: Sequence[ComparedRun]) -> str:
    """Ways to History's list of traces, which takes the one that is pressed along."""
    ways = " · ".join(
        link(entry.key, address(HISTORY, **query([(RUN, entry.run_id)])))
        for entry in entries
        if entry.run_id is not None
    )
    return page(f'<p class="fs-muted">Compare a trace of these with one from elsewhere: {ways}</p>')


def kernel_panel(rows: Sequence[ComparedRow], *, suffix: str) -> None:
    """The kernel list of one run, beside all first visits and what its trace lacks."""
    listed = {row.entry.key: row for row in rows if row.entry.run is not None and row.entry.run.kernels}
    left, right = st.container(key=f"panels{suffix}").columns([1.75, 1], gap="large")
    with left:
        if listed:
            _kernels(listed, suffix)
    base_key = next((row.entry.key for row in rows if row.is_baseline), None)
    first_visits = first_visits_html([row.entry for row in rows], base_key=base_key)
    if first_visits:
        right.html(first_visits)


def samples_panel(rows: Sequence[ComparedRow], *, suffix: str, choice: Choice) -> None:
    """Behind a switch: most readers need the spread alone, and only who asks waits for the chart."""
    entries = [row.entry for row in rows]
    if not has_samples(entries, choice.by):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"panel-samples{suffix}"):
        st.html(section("Samples", aside="every one, in the order taken"), width="content")
        shown = st.toggle("Show every sample", key=f"samples{suffix}", bind="query-params")
    if not shown:
        return
    base_key = next((row.entry.key for row in rows if row.is_baseline), None)
    dark = st.context.theme.type == "dark"
    figure = samples_figure(entries, by=choice.by, base_key=base_key, dark=dark)
    if figure is not None:
        st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key=f"samples-chart{suffix}")


def _kernels(listed: dict[str, ComparedRow], suffix: str) -> None:
    keys = sorted(listed, key=lambda key: (len(key), key))
    on_cpu = all(row.entry.run is not None and row.entry.run.metric(By.GPU_TIME) is None for row in listed.values())
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"panel-kernels{suffix}"):
        st.html(section("Operators" if on_cpu else "Kernels", aside="of one forward pass"), width="content")
        picked = pick_one(keys, next(iter(listed)), key=f"kv{suffix}")
    entry = listed[picked].entry
    assert entry.run is not None, "only runs with kernels are listed"
    stages = len(catalog.operation(entry.workload.operation).stages)
    st.html(kernels_html(entry.run, unit=time_unit(entry.workload), stages=stages, on_cpu=on_cpu))
    if entry.run.deep is not None:
        st.html(deep_html(entry.run.deep))
    if entry.run.trace_health or entry.run.recorded is not None:
        st.html(health_html(entry.variant, entry.run.trace_health, entry.run.recorded))


def pick_lanes(keys: list[str], saved: tuple[str, ...], *, key: str) -> list[str]:
    """In the order of the rows, whatever the order of the clicks."""
    shown = sorted(keys, key=lambda name: (len(name), name))
    picked = st.segmented_control(
        "Lanes",
        shown,
        selection_mode="multi",
        default=[name for name in saved if name in keys] or keys[:FIRST_LANES],
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return picked[:MOST_LANES]


def pick_one(keys: list[str], usual: str, *, key: str) -> str:
    picked = st.segmented_control(
        "Kernels of",
        keys,
        default=usual,
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return picked or usual


def _lane(row: ComparedRow, choice: Choice, token: str | None) -> Lane:
    entry = row.entry
    assert entry.run_id is not None, "only measured runs have lanes"
    gain = row.speed_up
    return Lane(
        key=entry.key,
        label=entry.variant,
        baseline=row.is_baseline,
        summary=_summary(entry, choice.by),
        note=f"{ratio(gain.ratio)} of the baseline’s speed" if gain and (gain.faster or gain.slower) else "",
        stages=len(catalog.operation(entry.workload.operation).stages),
        url=url_of_run(entry.run_id, token=token),
    )


def _summary(entry: ComparedRun, by: By) -> str:
    """`4,531.5 µs · 5 kernels + 1 copy + 2 fills`."""
    metric, unit = time(entry, by), time_unit(entry.workload)
    counts = entry.run.counts if entry.run is not None else None
    words = [f"{unit.write(metric.value)} {unit.symbol} {TITLES[by]}"] if metric is not None else []
    kinds = " + ".join([] if counts is None else counted(counts))
    doubt = " (in doubt)" if entry.run is not None and counts_doubt(entry.run) else ""
    return " · ".join([*words, *([kinds + doubt] if kinds else [])])


def keep_view(name: str) -> Callable[[str | None], None]:
    """Write the view that a person rests at into the address; the whole timeline stays out of it.

    What is there is not written again: it would undo a step back that is on its way.
    """

    def keep(zoom: str | None) -> None:
        if zoom == st.query_params.get(name):
            return
        if zoom:
            st.query_params[name] = zoom
        else:
            st.query_params.pop(name, None)

    return keep
