"""What a failure means for the person who submitted the job, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from db.views import JobView, TrialStatus
from profiles.comparison.reason import ADVICE, SAID
from profiles.results import Failure, FailureKind, RunStatus

MOST_NAMED = 3


def failure_words(failure: Failure) -> str:
    """`out_of_memory: wanted 64.0 GiB`, in one line."""
    return f"{failure.kind}: {' '.join(failure.message.split())}"


def summary(job: JobView) -> str:
    """What became of a job that did not go well; names stand between backticks."""
    lost = [trial.failure for trial in job.trials if trial.failure is not None]
    failures = job.failures
    measured = succeeded(job)
    first = f"{measured} of {runs(job)} were measured." if measured else "No variant could be measured."
    if failures:
        variant, failure = failures[0]
        alike = [name for name, other in failures[1:] if other.kind is failure.kind]
        told = f"`{variant}` {SAID[failure.kind]}{_others(alike)}."
    elif lost:
        told = lost[0].message.rstrip(".").capitalize() + "."
    else:
        told = ""
    return f"{first} {told}".strip()


def raw_lines(job: JobView) -> tuple[str, ...]:
    """The failures as they were reported: kind, variant, message; a trial's own once for all its variants."""
    lost = [trial.failure for trial in job.trials if trial.failure is not None]
    of_trials = [f"{failure.kind}  {failure.message}" for failure in lost]
    of_runs = [f"{failure.kind}  {name}  {failure.message}" for name, failure in job.failures if failure not in lost]
    return tuple(dict.fromkeys((*of_trials, *of_runs)))


def next_step(job: JobView) -> str:
    kinds = [failure.kind for _, failure in job.failures]
    kinds += [trial.failure.kind for trial in job.trials if trial.failure is not None]
    names = dict.fromkeys(name for name, failure in job.failures if failure.kind is FailureKind.OUT_OF_MEMORY)
    if names and FailureKind.OUT_OF_MEMORY in kinds:
        without = f"without {_listed(list(names))}, " if len(names) <= MOST_NAMED else ""
        return f"Try {without}with a smaller batch or a shorter sequence."
    return next((ADVICE[kind] for kind in kinds if kind in ADVICE), "Retry, or change the job.")


def outcome(job: JobView) -> str:
    """`5 succeeded, 1 incorrect, 2 refused`."""
    statuses = [variant.run.status for trial in job.trials for variant in trial.progress if variant.run is not None]
    counted = [(statuses.count(status), status) for status in RunStatus]
    told = ", ".join(f"{count} {status}" for count, status in counted if count)
    cancelled = sum(trial.status is TrialStatus.CANCELLED for trial in job.trials)
    if cancelled and not any(status is RunStatus.CANCELLED for status in statuses):
        told = ", ".join(filter(None, (told, "cancelled before it was measured" if not told else "the rest cancelled")))
    return told or "nothing was measured"


def went_wrong(job: JobView) -> bool:
    """Whether someone should look: a failure that is no refusal."""
    return bool(job.failures) or any(trial.status is TrialStatus.FAILED for trial in job.trials)


def was_cancelled(job: JobView) -> bool:
    """Whether something of it was not measured because somebody stopped it: what a retry makes up for."""
    runs_of = (variant.run for trial in job.trials for variant in trial.progress if variant.run is not None)
    return any(trial.status is TrialStatus.CANCELLED for trial in job.trials) or any(
        run.status is RunStatus.CANCELLED for run in runs_of
    )


def succeeded(job: JobView) -> int:
    return sum(
        variant.run is not None and variant.run.status is RunStatus.SUCCEEDED
        for trial in job.trials
        for variant in trial.progress
    )


def runs(job: JobView) -> int:
    return sum(len(trial.variants) for trial in job.trials)


def _others(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = list(dict.fromkeys(names))
    return f", like {_listed(shown)}" if len(shown) <= MOST_NAMED else f", like {len(shown)} others"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
