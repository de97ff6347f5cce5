"""A comparison's entries: fixed keys for variants of trials."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from db.models import EntryRow
from profiles.comparison.entry import letters


def add_entries(session: Session, comparison_id: int, entries: Iterable[tuple[int, str]]) -> None:
    """`entries` are (trial, variant) in the order of their keys A, B, C …"""
    session.add_all(
        EntryRow(comparison_id=comparison_id, position=position, key=letters(position), trial_id=trial, variant=variant)
        for position, (trial, variant) in enumerate(entries)
    )
