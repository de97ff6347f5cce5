"""What the database refuses, in words for people."""

from __future__ import annotations

from datetime import datetime


class NotFound(ValueError):  # noqa: N818 (a state, named as the caller reads it)
    """Nothing stored has that id."""


class RawRemoved(NotFound):
    """The raw file of a trace that is no longer kept, because it was stored long enough ago. The caller knows how long
    that is."""

    def __init__(self, what: str, removed_at: datetime) -> None:
        super().__init__(f"the raw file of {what} was removed on {removed_at:%Y-%m-%d}")
        self.removed_at = removed_at


class IllegalMove(ValueError):  # noqa: N818 (a state, named as the caller reads it)
    """A change of status, or of what was stored, that the states do not allow."""


class Unstorable(ValueError):  # noqa: N818 (a state, named as the caller reads it)
    """A value that no database keeps exactly: NaN, infinity, or an integer beyond 64 bits."""


class DatabaseError(ValueError):
    """A database that cannot be used: a bad address, or tables of another version."""
