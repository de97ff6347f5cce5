"""Raw files that are no longer kept, in the words of every page, route and command that would give one out."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from app.formatting import day


def removed_text(removed_at: datetime, *, keep_days: float | None, zone: tzinfo = UTC) -> str:
    """`removed on 30 Nov 2026, since this server keeps raw traces for 30 days`."""
    return f"removed on {day(removed_at, zone)}, {removed_because(keep_days)}"


def removed_because(keep_days: float | None) -> str:
    """By the setting as it is now; where there is none any more, it was another one then."""
    if keep_days is None:
        return "when this server kept raw traces for a limited time"
    return f"since this server keeps raw traces for {keep_days:g} {'day' if keep_days == 1 else 'days'}"
