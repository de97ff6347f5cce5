"""What a device can do at most: measured once per environment and kept with it; those measured here stay."""

from __future__ import annotations

import msgspec
from sqlalchemy import select, type_coerce, update
from sqlalchemy.orm import Session

from db.columns import Json
from db.models import EnvironmentRow
from db.run_rows import environment_id
from db.session import Database
from profiles.ceilings import Ceilings
from profiles.environment import Environment


class KeptCeilings(Ceilings, frozen=True, kw_only=True):
    """As they are stored. `measured_here`: by a worker of this database; None where a bundle brought them, or where an
    older version stored them, which did not tell. Whoever reads them as Ceilings sees no difference."""

    measured_here: bool | None = None


_KEPT = type_coerce(EnvironmentRow.ceilings, Json(KeptCeilings))


def store_ceilings(db: Database, environment: Environment, ceilings: Ceilings) -> None:
    """What a worker has measured. It replaces what a bundle brought: numbers that somebody else's file states judge no
    run of this device."""
    with db.begin() as session:
        kept = _kept(session, environment)
        if kept is None or not kept.measured_here:
            _write(session, environment, KeptCeilings(**msgspec.structs.asdict(ceilings), measured_here=True))


def keep_ceilings(session: Session, environment: Environment, ceilings: Ceilings) -> None:
    """What a bundle brings: nothing changes where the environment has some."""
    if _kept(session, environment) is None:
        _write(session, environment, ceilings)


def environments_with_ceilings(db: Database) -> tuple[str, ...]:
    """The digests of those whose ceilings were measured here: what is not to be measured again."""
    query = select(EnvironmentRow.digest, _KEPT).where(EnvironmentRow.ceilings.is_not(None)).order_by(EnvironmentRow.id)
    with db.read() as session:
        return tuple(digest for digest, kept in session.execute(query) if kept.measured_here)


def _kept(session: Session, environment: Environment) -> KeptCeilings | None:
    """Locked until the transaction ends; the environment's row is made where it is new."""
    environment_id(session, environment)
    return session.scalar(select(_KEPT).where(EnvironmentRow.digest == environment.digest).with_for_update())


def _write(session: Session, environment: Environment, ceilings: Ceilings) -> None:
    session.execute(
        update(EnvironmentRow)
        .where(EnvironmentRow.digest == environment.digest)
        .values(ceilings=ceilings)
        .execution_options(synchronize_session=False)
    )
