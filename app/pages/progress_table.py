"""One running trial as a table: the ticks of each variant's phases, figures as they come, its state."""

from __future__ import annotations

from html import escape

from app.advice import failure_words
from app.markup import Tone, badge, mono, muted, table
from app.states import RUN_TONES
from db.views import JobView, TrialStatus, TrialView, VariantProgress
from profiles.comparison import figures
from profiles.protocol import Phase
from profiles.results import Run, RunStatus

TICKS = {
    Phase.ELIGIBLE: "eligible",
    Phase.FIRST_CALL: "first call",
    Phase.CORRECT: "correct",
    Phase.TIMED: "timed",
    Phase.TRACED: "traced",
}
DOING = {
    Phase.BUILD: "Building",
    Phase.ELIGIBLE: "Trying",
    Phase.FIRST_CALL: "First call of",
    Phase.VISITED: "Timing",
    Phase.CORRECT: "Checking the output of",
    Phase.TIMED: "Timing",
    Phase.TRACED: "Tracing",
}


def progress_table(trial: TrialView) -> str:
    head = (("Run", ""), *((name, "mid fs-wide") for name in TICKS.values()), ("So far", ""), ("State", ""))
    return table(head, (_row(variant, trial) for variant in trial.progress))


def doing(trial: TrialView) -> str:
    """HTML: what is going on right now."""
    current = next((variant for variant in trial.progress if variant.current is not None and variant.run is None), None)
    if current is None or current.current is None:
        done = sum(variant.run is not None for variant in trial.progress)
        return "Starting the measuring process" if not done else "Reading traces, off the device's time"
    so_far = f": {escape(current.so_far)}" if current.so_far else ""
    return f"{DOING[current.current]} {mono(current.variant)}{so_far}"


def job_share(job: JobView) -> float:
    """How far the job is: all of its trials weigh the same."""
    phases = len(Phase) if job.request.plan.walk is not None else len(Phase) - 1  # without a walk nothing is visited
    return sum(_share(trial, phases) for trial in job.trials) / len(job.trials)


def _share(trial: TrialView, phases: int) -> float:
    """How far the trial is, by the phases that its variants passed."""
    if trial.status is not TrialStatus.RUNNING:
        return 0.0 if trial.status is TrialStatus.QUEUED else 1.0
    whole = len(trial.variants) * phases
    passed = sum(phases if variant.run is not None else len(variant.passed) for variant in trial.progress)
    return passed / whole


def _row(variant: VariantProgress, trial: TrialView) -> str:
    cells = "".join(f'<td class="mid fs-wide">{_tick(variant, phase)}</td>' for phase in TICKS)
    return (
        f'<tr><th scope="row">{mono(variant.variant)}</th>{cells}'
        f"<td>{_so_far(variant, trial)}</td><td>{_state(variant)}</td></tr>"
    )


def _tick(variant: VariantProgress, phase: Phase) -> str:
    if phase in variant.passed:
        return '<span class="fs-tick" title="passed">✓</span>'
    if variant.current is phase and variant.run is None:
        return '<span class="fs-now" title="now">●</span>'
    return '<span class="fs-faint" title="not reached">·</span>'


def _so_far(variant: VariantProgress, trial: TrialView) -> str:
    if variant.run is not None:
        return _figures(variant.run, trial)
    return escape(variant.so_far or "")


def _figures(run: Run, trial: TrialView) -> str:
    if run.status is RunStatus.REFUSED:
        return muted(run.failure.message if run.failure else "refused")
    if run.failure is not None:
        return escape(failure_words(run.failure))
    unit = figures.time_unit(trial.workload)
    for name, title in (("gpu_time", "GPU time"), ("call_time", "back to back"), ("first_call", "first call")):
        metric = run.metric(name)
        if metric is not None:
            return f"{unit.write(metric.value)} {unit.symbol} {muted(title)}"
    return ""


def _state(variant: VariantProgress) -> str:
    if variant.run is not None:
        return badge(str(variant.run.status), RUN_TONES[variant.run.status])
    if variant.current is not None:
        return badge("running", Tone.RUN)
    return badge("waiting")
