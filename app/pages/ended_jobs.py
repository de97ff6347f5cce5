"""What ended: a card for what someone should look at, a line with the way on for what was cancelled, a row for the
rest."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app import addresses, context, submission
from app.advice import next_step, outcome, raw_lines, succeeded, summary, went_wrong
from app.formatting import NOT_RECORDED, moment, seconds
from app.forms.links import query
from app.markup import Tone, badge, link, muted, page, prose, table, tick
from app.pages import links
from db.errors import IllegalMove
from db.views import JobStatus, JobView
from profiles.results import RunStatus

MOST_LINES = 4


def card(job: JobView) -> None:
    _with_a_way_on(job, _told(job))


def line(job: JobView) -> None:
    _with_a_way_on(job, page(f"{_head(job)}<p>{escape(outcome(job).capitalize())}.</p>"))


def _with_a_way_on(job: JobView, told: str) -> None:
    with st.container(border=True, key=f"job-{job.id}"):
        left, right = st.columns([5, 1], vertical_alignment="top")
        left.html(told)
        with right.container(horizontal=True, horizontal_alignment="right"):
            st.button("Retry", key=f"retry-{job.id}", icon=":material/replay:", on_click=_retry, args=(job.id,))
            links.page_link("Change", addresses.NEW_JOB, query=query(job.request), icon=":material/edit:")


def rows(jobs: Sequence[JobView]) -> None:
    if not jobs:
        return
    head = (
        ("Job", ""),
        ("Outcome", "fs-wide"),
        ("State", ""),
        ("Device", "fs-wide"),
        ("Took", "num fs-wide"),
        ("Ended", "num"),
    )
    st.html(table(head, map(_row, jobs)))


def _told(job: JobView) -> str:
    lines = raw_lines(job)
    shown = "\n".join(lines[:MOST_LINES]) + (
        f"\n… and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    )
    return page(
        f"{_head(job)}<p>{prose(summary(job))}</p>"
        f'<pre class="fs-raw">{escape(shown)}</pre>'
        f'<p class="fs-muted">{prose(next_step(job))}</p>'
    )


def _head(job: JobView) -> str:
    facts = (job.request.device, _ended(job), _took(job))
    there = link("See what was measured", addresses.comparison(job.comparison_id)) if succeeded(job) else ""
    name = f"<h3>{escape(job.request.name)}</h3>"
    return f'<div class="fs-head">{name}{_state(job)}{muted(" · ".join(facts))}{there}</div>'


def _row(job: JobView) -> str:
    return (
        f'<tr><th scope="row">{link(job.request.name, addresses.comparison(job.comparison_id), plain=True)}</th>'
        f'<td class="fs-wide">{escape(outcome(job))}</td><td>{_state(job)}</td>'
        f'<td class="fs-wide fs-muted">{escape(job.request.device)}</td><td class="num fs-wide">{_took(job)}</td>'
        f'<td class="num fs-muted fs-nowrap">{_ended(job)}</td></tr>'
    )


def _state(job: JobView) -> str:
    if job.status is JobStatus.DONE and not went_wrong(job):
        return tick("done")
    if job.status is JobStatus.CANCELLED:
        return badge("cancelled")
    incorrect = sum(v.run is not None and v.run.status is RunStatus.INCORRECT for t in job.trials for v in t.progress)
    kinds = dict.fromkeys(str(failure.kind).replace("_", " ") for _, failure in job.failures)
    kinds |= dict.fromkeys(str(t.failure.kind).replace("_", " ") for t in job.trials if t.failure is not None)
    note = f"{incorrect} incorrect" if incorrect else next(iter(kinds), "")
    return badge(" · ".join(filter(None, (str(job.status), note))), Tone.BAD)


def _ended(job: JobView) -> str:
    times = [trial.ended_at for trial in job.trials if trial.ended_at is not None]
    return moment(max(times), context.zone()) if times else NOT_RECORDED


def _took(job: JobView) -> str:
    """The devices' time: the sum over the trials that ran."""
    spans = [t.ended_at - t.started_at for t in job.trials if t.started_at is not None and t.ended_at is not None]
    return seconds(sum(span.total_seconds() for span in spans)) if spans else NOT_RECORDED


def _retry(job_id: int) -> None:
    """A callback, which no poll of the page can cut off; the page is then drawn anew, and polls while this is open."""
    try:
        submission.retry(job_id)
    except IllegalMove as error:
        st.toast(str(error))
