"""Workers: who is there, what each can do, what it measures now. Alive is judged by the database's clock."""

from __future__ import annotations

from sqlalchemy import and_, delete, select, update

from db.clock import from_now, now
from db.models import TrialRow, WorkerRow
from db.session import Database
from db.views import TrialStatus, WorkerView
from profiles.worker import Capabilities

ALIVE_S = 15.0


def announce(db: Database, name: str, capabilities: Capabilities) -> None:
    """A worker starts, or starts again under the name it had."""
    with db.begin() as session:
        row = session.get(WorkerRow, name, with_for_update=True)
        if row is None:
            session.add(WorkerRow(name=name, capabilities=capabilities))
        else:
            row.capabilities = capabilities
            row.started_at, row.seen_at = now(), now()


def seen(db: Database, name: str) -> bool:
    """The worker lives. False where it is not announced (any more): announce it again."""
    alive = update(WorkerRow).where(WorkerRow.name == name).values(seen_at=now()).returning(WorkerRow.name)
    with db.begin() as session:
        return session.scalar(alive) is not None


def gone(db: Database, name: str) -> None:
    """The worker stopped in good order. One that just falls silent stays listed, as not alive."""
    with db.begin() as session:
        session.execute(delete(WorkerRow).where(WorkerRow.name == name))


def workers(db: Database) -> tuple[WorkerView, ...]:
    """In the order of their names."""
    measuring = and_(TrialRow.owner == WorkerRow.name, TrialRow.status == TrialStatus.RUNNING)
    query = (
        select(WorkerRow, WorkerRow.seen_at >= from_now(-ALIVE_S), TrialRow.id)
        .outerjoin(TrialRow, measuring)
        .order_by(WorkerRow.name, TrialRow.id)
    )
    with db.read() as session:
        views = {row.name: _view(row, bool(alive), trial_id) for row, alive, trial_id in session.execute(query)}
    return tuple(views.values())


def _view(row: WorkerRow, alive: bool, trial_id: int | None) -> WorkerView:
    return WorkerView(
        name=row.name,
        capabilities=row.capabilities,
        started_at=row.started_at,
        seen_at=row.seen_at,
        alive=alive,
        trial_id=trial_id,
    )
