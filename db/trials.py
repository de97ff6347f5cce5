"""A trial's life in the hands of a worker: claim, beat, progress, giving back, end. Each is one conditional change.

An attempt whose lease ran out is fenced off: what it says afterwards changes nothing. `db.leases` gives its trial away.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from db.clock import from_now, now
from db.comparisons import renew_answers
from db.errors import IllegalMove, NotFound
from db.models import TrialRow
from db.ownership import LEASE_S, Beat, claim, hand_back, owned, owned_row
from db.records import VariantSteps
from db.runs import close_runs, unmeasured
from db.session import Database
from db.trial_views import trial_view
from db.views import TrialStatus, TrialView
from profiles.job import TrialRequest
from profiles.plan import Plan
from profiles.protocol import Progress
from profiles.results import Failure, FailureKind, RunStatus

ENDS = {
    TrialStatus.DONE: RunStatus.FAILED,
    TrialStatus.FAILED: RunStatus.FAILED,
    TrialStatus.CANCELLED: RunStatus.CANCELLED,
}
NO_RESULT = Failure(kind=FailureKind.INTERNAL, message="the measurement ended without a result of this variant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is left to measure of a trial: `request` names the variants that no earlier attempt has stored."""

    trial_id: int
    job_id: int | None
    device: str
    plan: Plan
    request: TrialRequest


def claim_trial(db: Database, trial_id: int, *, worker: str, lease_s: float = LEASE_S) -> int | None:
    """Take a queued trial; the attempt that this worker now owns, or None when there is nothing to take.

    The lease runs by the database's clock, so that no worker's clock can lose or double a trial.
    """
    with db.begin() as session:
        return claim(session, TrialRow, trial_id, worker=worker, lease_s=lease_s, steps=())


def assignment(db: Database, trial_id: int) -> Assignment:
    """NotFound where there is no such trial."""
    with db.read() as session:
        row = find_trial(session, trial_id)
        return Assignment(
            trial_id=row.id,
            job_id=row.job_id,
            device=row.device,
            plan=row.plan,
            request=TrialRequest(workload=row.workload, variants=unmeasured(session, row)),
        )


def beat(db: Database, trial_id: int, *, worker: str, attempt: int, lease_s: float = LEASE_S) -> Beat:
    """Extend the lease, and hear whether somebody wants the trial cancelled."""
    extend = (
        update(TrialRow)
        .where(owned(TrialRow, trial_id, worker=worker, attempt=attempt))
        .values(lease_until=from_now(lease_s))
        .returning(TrialRow.cancel_requested)
    )
    with db.begin() as session:
        cancel_requested = session.scalar(extend)
    return Beat(owned=cancel_requested is not None, cancel_requested=bool(cancel_requested))


def give_back(db: Database, trial_id: int, *, worker: str, attempt: int) -> bool:
    """The worker stops in good order: its lease ends now, and the attempt does not count, because nothing went wrong.

    False where the trial is no longer this attempt's. The reaper sends the trial again.
    """
    with db.begin() as session:
        return hand_back(session, TrialRow, trial_id, worker=worker, attempt=attempt)


def record_progress(db: Database, trial_id: int, *, worker: str, attempt: int, progress: Progress) -> bool:
    """Whether it was recorded; False where the trial is no longer this attempt's."""
    with db.begin() as session:
        trial = owned_row(session, TrialRow, trial_id, worker=worker, attempt=attempt)
        if trial is None:
            return False
        trial.steps = _advanced(trial.steps, progress)
        return True


def finish_trial(
    db: Database, trial_id: int, *, worker: str, attempt: int, status: TrialStatus, failure: Failure | None = None
) -> bool:
    """End a running trial; False where it is no longer this attempt's.

    `done` means measured, whatever became of its runs; `failed` needs a failure; `cancelled` a request to cancel.
    """
    if status not in ENDS:
        raise IllegalMove(f"a trial cannot end as {str(status)!r}; expected 'done', 'failed' or 'cancelled'")
    if (failure is not None) != (status is TrialStatus.FAILED):
        raise IllegalMove("a failed trial has a failure, and no other has one")
    with db.begin() as session:
        trial = owned_row(session, TrialRow, trial_id, worker=worker, attempt=attempt)
        if trial is None:
            return False
        if status is TrialStatus.CANCELLED and not trial.cancel_requested:
            raise IllegalMove(f"nobody asked to cancel trial {trial_id}")
        end_trial(session, trial, status, failure)
        return True


def end_trial(session: Session, trial: TrialRow, status: TrialStatus, failure: Failure | None = None) -> None:
    """Set a locked trial's end, a run for each variant that has none, and the answer of what shows it."""
    trial.status = status
    trial.ended_at = now()
    trial.lease_until = None
    if failure is not None:
        trial.failure_kind, trial.failure_message = failure.kind, failure.message
    close_runs(session, trial, ENDS[status], NO_RESULT if status is TrialStatus.DONE else failure)
    renew_answers(session, trial.id)


def trial(db: Database, trial_id: int) -> TrialView:
    """NotFound also for what was imported: that belongs to no job and was never measured here."""
    with db.read() as session:
        row = find_trial(session, trial_id)
        if row.job_id is None:
            raise NotFound(f"trial {trial_id} was not measured here")
        return trial_view(session, row)


def waiting(db: Database) -> dict[str, int]:
    """How many trials are queued, by device class."""
    query = select(TrialRow.device, func.count()).where(TrialRow.status == TrialStatus.QUEUED).group_by(TrialRow.device)
    with db.read() as session:
        return dict(session.execute(query).all())


def find_trial(session: Session, trial_id: int) -> TrialRow:
    row = session.get(TrialRow, trial_id)
    if row is None:
        raise NotFound(f"there is no trial {trial_id}")
    return row


def _advanced(steps: tuple[VariantSteps, ...], progress: Progress) -> tuple[VariantSteps, ...]:
    """`steps` with what `progress` says about its variant."""
    before = next((step for step in steps if step.variant == progress.variant), VariantSteps(variant=progress.variant))
    over = progress.done >= 1.0
    passed = before.passed
    if over and progress.phase not in passed:
        passed = (*passed, progress.phase)
    after = VariantSteps(
        variant=progress.variant,
        passed=passed,
        current=None if over else progress.phase,
        so_far=progress.so_far if progress.so_far is not None else before.so_far,
    )
    if all(step.variant != progress.variant for step in steps):
        return (*steps, after)
    return tuple(after if step.variant == progress.variant else step for step in steps)
