"""States in words and badges: of comparisons, jobs and runs."""

from __future__ import annotations

from app.formatting import plural
from app.markup import Tone, badge, muted, tick
from db.views import ComparisonKind, ComparisonSummary, JobStatus
from profiles.results import RunStatus

OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)

RUN_TONES = {
    RunStatus.SUCCEEDED: Tone.OK,
    RunStatus.INCORRECT: Tone.BAD,
    RunStatus.REFUSED: Tone.IDLE,
    RunStatus.FAILED: Tone.BAD,
    RunStatus.CANCELLED: Tone.IDLE,
}


def comparison_words(comparison: ComparisonSummary) -> tuple[str, Tone | None]:
    """The state of a comparison and its tone; no tone where all is as it should be."""
    return _of_traces(comparison) if comparison.kind is ComparisonKind.TRACES else _of_runs(comparison)


def _of_runs(comparison: ComparisonSummary) -> tuple[str, Tone | None]:
    if comparison.status is JobStatus.QUEUED:
        return "waiting", Tone.IDLE
    if comparison.status is JobStatus.RUNNING:
        return f"running · {comparison.succeeded} of {comparison.runs}", Tone.RUN
    if comparison.status is JobStatus.CANCELLED:
        return "cancelled", Tone.IDLE
    if comparison.incorrect:
        return f"{comparison.incorrect} incorrect", Tone.BAD
    if comparison.status is JobStatus.FAILED or not comparison.succeeded:
        return "failed", Tone.BAD
    return (f"{comparison.failed} failed", Tone.BAD) if comparison.failed else ("done", None)


def _of_traces(comparison: ComparisonSummary) -> tuple[str, Tone | None]:
    waiting = comparison.runs - comparison.succeeded - comparison.failed
    if waiting:
        return (f"reading · {comparison.succeeded} of {comparison.runs}", Tone.RUN)
    return (f"{comparison.failed} refused", Tone.IDLE) if comparison.failed else ("read", None)


def comparison_badge(comparison: ComparisonSummary) -> str:
    words, tone = comparison_words(comparison)
    return tick(words) if tone is None else badge(words, tone)


def short_device(name: str | None, device: str | None) -> str:
    """`H200` of `NVIDIA H200`; a processor is `CPU`, its model is for the row's title."""
    if device is not None and device.startswith("cpu"):
        return "CPU"
    return (name or "").removeprefix("NVIDIA ").strip() or "–"


def measured(done: int, whole: int) -> str:
    return muted(f"{done} of {plural(whole, 'run')}")
