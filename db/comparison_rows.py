"""A comparison's entries: fixed keys for variants of trials."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from db.models import EntryRow
from profiles.comparison.entry import letters


def add_entries(
    session: Session, comparison_id: int, entries: Sequence[tuple[int, str]], *, keys: Sequence[str] | None = None
) -> None:
    """`entries` are (trial, variant) in their order; their keys are A, B, C … unless given."""
    given = keys or [letters(position) for position in range(len(entries))]
    session.add_all(
        EntryRow(comparison_id=comparison_id, position=position, key=key, trial_id=trial, variant=variant)
        for position, (key, (trial, variant)) in enumerate(zip(given, entries, strict=True))
    )
