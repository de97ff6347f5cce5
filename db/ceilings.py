"""What a device can do at most: measured once per environment and kept with it; the first ones stay."""

from __future__ import annotations

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.models import EnvironmentRow
from db.run_rows import environment_id
from db.session import Database
from profiles.ceilings import Ceilings
from profiles.environment import Environment


def store_ceilings(db: Database, environment: Environment, ceilings: Ceilings) -> None:
    with db.begin() as session:
        keep_ceilings(session, environment, ceilings)


def keep_ceilings(session: Session, environment: Environment, ceilings: Ceilings) -> None:
    """Nothing changes where the environment has some."""
    row = environment_id(session, environment)
    session.execute(
        update(EnvironmentRow)
        .where(EnvironmentRow.id == row, EnvironmentRow.ceilings.is_(None))
        .values(ceilings=ceilings)
        .execution_options(synchronize_session=False)
    )


def environments_with_ceilings(db: Database) -> tuple[str, ...]:
    """Their digests: what is not to be measured again."""
    query = select(EnvironmentRow.digest).where(EnvironmentRow.ceilings.is_not(None)).order_by(EnvironmentRow.id)
    with db.read() as session:
        return tuple(session.scalars(query))
