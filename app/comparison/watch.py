"""While a job runs: what is being measured now, and a fresh page whenever a run has arrived."""

from __future__ import annotations

import streamlit as st

from app.context import database
from app.markup import Tone, badge, link, mono, page
from db.comparisons import comparison
from db.jobs import job
from db.views import ComparisonView, JobStatus, TrialStatus, TrialView
from profiles.protocol import Phase

EVERY_S = 2
OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)
DOING = {
    Phase.BUILD: "building",
    Phase.ELIGIBLE: "trying",
    Phase.FIRST_CALL: "first call of",
    Phase.VISITED: "timing first visits of",
    Phase.CORRECT: "checking",
    Phase.TIMED: "timing",
    Phase.TRACED: "tracing",
}


def is_open(view: ComparisonView) -> bool:
    return view.status in OPEN


@st.fragment(run_every=EVERY_S)
def watch(comparison_id: int, seen: tuple[object, ...]) -> None:
    """Only this line is polled: what a person reads or chooses below stays as it is until there is news."""
    view = comparison(database(), comparison_id)
    if progress(view) != seen:
        st.rerun(scope="app")
    if view.job_id is not None:
        st.html(page(_line(job(database(), view.job_id).trials)))


def progress(view: ComparisonView) -> tuple[object, ...]:
    """Changes with every run that arrives and with the state of the job."""
    return (view.status, *(entry.run_id for entry in view.entries), *(entry.trial_status for entry in view.entries))


def _line(trials: tuple[TrialView, ...]) -> str:
    jobs = link("Jobs", "jobs")
    running = next((trial for trial in trials if trial.status is TrialStatus.RUNNING), None)
    if running is None:
        return f"{badge('waiting', Tone.IDLE)} a worker takes it when it is free · {jobs}"
    current = next((step for step in running.progress if step.current is not None), None)
    if current is None or current.current is None:
        return f"{badge('running', Tone.RUN)} starting · {jobs}"
    return f"{badge('running', Tone.RUN)} {DOING[current.current]} {mono(current.variant)} · {jobs}"
