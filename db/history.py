"""History: past comparisons and all runs, filtered and paged.

Each list is two steps: the page's ids by indexed filters, then what is shown of those few.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from db.comparison_summaries import comparison_summaries
from db.history_filters import comparison_conditions, run_conditions
from db.models import ComparisonRow, EnvironmentRow, RunRow, TrialRow
from db.run_summaries import run_summaries
from db.session import Database
from db.views import ComparisonSummary, HistoryFilter, Page, RunSummary

ANY = HistoryFilter()


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """What there is to filter by, in alphabetical order."""

    operations: tuple[str, ...]
    device_names: tuple[str, ...]


def comparisons(
    db: Database, wanted: HistoryFilter = ANY, *, offset: int = 0, limit: int = 20
) -> Page[ComparisonSummary]:
    """Latest first. A status is a job's; what no job makes (selected or imported runs) counts as done."""
    conditions = comparison_conditions(wanted)
    latest = select(ComparisonRow.id).where(*conditions).order_by(ComparisonRow.id.desc()).offset(offset).limit(limit)
    with db.read() as session:
        total = session.scalar(select(func.count()).select_from(ComparisonRow).where(*conditions))
        return Page(items=comparison_summaries(session, session.scalars(latest).all()), total=total or 0)


def runs(db: Database, wanted: HistoryFilter = ANY, *, offset: int = 0, limit: int = 20) -> Page[RunSummary]:
    """Latest measured first."""
    conditions = run_conditions(wanted)
    latest = select(RunRow.id).where(*conditions).order_by(RunRow.measured_at.desc(), RunRow.id.desc())
    with db.read() as session:
        total = session.scalar(select(func.count()).select_from(RunRow).where(*conditions))
        ids = session.scalars(latest.offset(offset).limit(limit)).all()
        return Page(items=run_summaries(session, ids), total=total or 0)


def filter_choices(db: Database) -> FilterChoices:
    with db.read() as session:
        operations = session.scalars(select(TrialRow.operation).distinct()).all()
        device_names = session.scalars(select(EnvironmentRow.device_name).distinct()).all()
    return FilterChoices(operations=tuple(sorted(operations)), device_names=tuple(sorted(device_names)))
