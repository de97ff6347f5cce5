"""Start: three questions that lead to filled-in jobs, what was answered last, and the devices."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import streamlit as st

from app import addresses, context
from app.devices import preferred_device
from app.formatting import about, ago, plural
from app.forms.estimates import longest
from app.markup import brief_answer, link, page, prose, section, table, title
from app.pages import device_list, links, question_cards
from app.states import comparison_badge, short_device
from app.traces.panel import import_panel
from db import comparisons, history, jobs, workers
from db.views import ComparedRun, ComparisonKind, ComparisonSummary, HistoryFilter, Page
from profiles import presets
from profiles.job import JobRequest

LATEST = 6
POLL_S = 2.0
IDLE_POLL_S = 10.0
NEWEST = 5
NOTHING_YET = (
    '<p class="fs-empty"><b>No comparison yet.</b> '
    "Take one of the questions above: each ends in a page that will stand here.</p>"
)


def render() -> None:
    database = context.database()
    alive = workers.workers(database)
    st.html(
        title(
            "What do you want to know?",
            lead="Each question starts a job on a device of yours and ends in a page that answers it.",
        )
    )
    shown = [preset for preset in presets.PRESETS if preset.on_start]
    for column, preset in zip(st.columns(len(shown), gap="medium"), shown, strict=True):
        with column:
            _question(preset, preferred_device(alive))
    st.space("small")
    is_open = bool(jobs.open_jobs(database))
    every_s = POLL_S if is_open else IDLE_POLL_S
    left, right = st.columns([3, 1], gap="large")
    with left:
        st.fragment(_latest, run_every=every_s)()
    with right:
        st.fragment(_devices, run_every=every_s)(was_open=is_open)
        import_panel(key="start-import")


def _devices(*, was_open: bool) -> None:
    """When the first job comes or the last one ends, the questions may have a new answer."""
    database = context.database()
    current = jobs.open_jobs(database)
    if was_open != bool(current):
        st.rerun()
    device_list.show(workers.workers(database), current)


def _question(preset: presets.Preset, device: str) -> None:
    request = presets.request(preset.name, device=device)
    with st.container(border=True, height="stretch"):
        picture = question_cards.picture(preset.name, _newest_first(preset.title, request))
        head = f"<h3>{prose(preset.question)}</h3><p>{prose(preset.summary)}</p>"
        st.html(page(f'<div class="fs-question">{head}{picture}</div>'))
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.html(page(f'<span class="fs-muted">{_cost(request)}</span>'), width="content")
            links.page_link("Set up", addresses.NEW_JOB, query={"preset": preset.name}, icon=":material/arrow_forward:")


def _newest_first(title: str, request: JobRequest) -> Iterator[tuple[ComparedRun, ...]]:
    """The entries of the latest comparisons of these operations that have something to compare; read when wanted.

    First those of this very question: another one (first visits, say) may have asked about the same operation since.
    """
    database = context.database()
    operations = dict.fromkeys(trial.workload.operation for trial in request.trials)
    for operation in operations:
        latest = history.latest_comparisons(database, HistoryFilter(operation=operation), limit=NEWEST)
        for summary in sorted(latest, key=lambda one: one.name != title):
            if summary.succeeded >= 2:
                yield comparisons.comparison(database, summary.id).entries


def _cost(request: JobRequest) -> str:
    expected = jobs.expected_seconds(context.database(), request)
    runs = sum(len(trial.variants) for trial in request.trials)
    known = about(expected) if expected is not None else longest(request)
    return " · ".join((plural(len(request.trials), "workload"), plural(runs, "variant"), known))


def _latest() -> None:
    latest: Page[ComparisonSummary] = history.comparisons(context.database(), HistoryFilter(), offset=0, limit=LATEST)
    aside = link(f"all {latest.total:,}", addresses.HISTORY) if latest.total > LATEST else ""
    heading = section("Latest comparisons", aside=aside)
    head = (("Comparison", ""), ("Answer", "fs-wide"), ("State", ""), ("Device", "fs-wide"), ("When", "num"))
    st.html(heading + (table(head, map(_row, latest.items)) if latest.items else page(NOTHING_YET)))


def _row(summary: ComparisonSummary) -> str:
    name = link(summary.name, addresses.comparison(summary.id), plain=True)
    device, subject = short_device(summary.device_name, summary.device), summary.workload
    if summary.kind is ComparisonKind.TRACES:
        device, subject = _recorded_on(summary), "a trace" if summary.runs == 1 else plural(summary.runs, "trace")
    return (
        f'<tr class="two"><th scope="row">{name}<br><small>{escape(subject)}</small></th>'
        f'<td class="fs-wide">{brief_answer(summary.answer)}</td><td>{comparison_badge(summary)}</td>'
        f'<td class="fs-wide fs-muted" title="{escape(summary.device_name or "")}">{escape(device)}</td>'
        f'<td class="num fs-muted fs-nowrap">{ago(summary.created_at, context.now(), context.zone())}</td></tr>'
    )


def _recorded_on(summary: ComparisonSummary) -> str:
    """Traces may come from many: one is named, more are counted."""
    names = (summary.device_name or "").split(", ")
    return short_device(names[0].removeprefix("AMD "), None) if len(names) == 1 else f"{len(names)} devices"
