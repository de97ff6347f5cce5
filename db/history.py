"""History: past comparisons and all runs, filtered and paged.

Each list is two steps: the page's ids by indexed filters, then what is shown of those few.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from db.comparison_summaries import comparison_summaries
from db.history_filters import comparison_conditions, run_conditions
from db.models import ComparisonRow, EnvironmentRow, RunRow, TrialRow
from db.run_summaries import run_summaries
from db.session import Database
from db.views import ComparisonSummary, HistoryFilter, Page, RunSummary

ANY = HistoryFilter()
TOTAL = func.count().over()


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """What there is to filter by, in alphabetical order."""

    operations: tuple[str, ...]
    device_names: tuple[str, ...]


def comparisons(
    db: Database, wanted: HistoryFilter = ANY, *, offset: int = 0, limit: int = 20
) -> Page[ComparisonSummary]:
    """Latest first. A status is a job's; what no job makes (selected or imported runs) counts as done."""
    matching = select(ComparisonRow.id, TOTAL).where(*comparison_conditions(wanted)).order_by(ComparisonRow.id.desc())
    with db.read() as session:
        ids, total = _page(session, matching, offset=offset, limit=limit)
        return Page(items=comparison_summaries(session, ids), total=total)


def latest_comparisons(db: Database, wanted: HistoryFilter = ANY, *, limit: int) -> tuple[ComparisonSummary, ...]:
    """The first of `comparisons`, without a look at all the others to count them."""
    matching = select(ComparisonRow.id).where(*comparison_conditions(wanted)).order_by(ComparisonRow.id.desc())
    with db.read() as session:
        return comparison_summaries(session, session.scalars(matching.limit(limit)).all())


def runs(db: Database, wanted: HistoryFilter = ANY, *, offset: int = 0, limit: int = 20) -> Page[RunSummary]:
    """Latest measured first."""
    matching = select(RunRow.id, TOTAL).where(*run_conditions(wanted))
    latest = matching.order_by(RunRow.measured_at.desc(), RunRow.id.desc())
    with db.read() as session:
        ids, total = _page(session, latest, offset=offset, limit=limit)
        return Page(items=run_summaries(session, ids), total=total)


def filter_choices(db: Database) -> FilterChoices:
    with db.read() as session:
        operations = session.scalars(select(TrialRow.operation).distinct()).all()
        device_names = session.scalars(select(EnvironmentRow.device_name).distinct()).all()
    return FilterChoices(operations=tuple(sorted(operations)), device_names=tuple(sorted(device_names)))


def _page(session: Session, matching: Select[int, int], *, offset: int, limit: int) -> tuple[list[int], int]:
    """(the page's ids, how many match), in one query: its conditions are the costly part."""
    rows = session.execute(matching.offset(offset).limit(limit)).all()
    if rows or not offset:
        return [row_id for row_id, _ in rows], rows[0][1] if rows else 0
    first = session.execute(matching.limit(1)).first()  # a page beyond the last
    return [], first[1] if first is not None else 0
