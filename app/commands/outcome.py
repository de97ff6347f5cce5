"""What an exit code says about measured variants."""

from __future__ import annotations

from collections.abc import Iterable

from app.commands.command import Exit
from profiles.comparison.entry import Entry, State, state

UNSUCCESSFUL = (State.FAILED, State.INCORRECT, State.CANCELLED, State.MISSING)


def exit_code(entries: Iterable[Entry]) -> Exit:
    """Refused variants are no failure; those that are still to come are none yet."""
    return Exit.FAILED if any(state(entry) in UNSUCCESSFUL for entry in entries) else Exit.SUCCEEDED
