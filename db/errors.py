"""What the database refuses, in words for people."""

from __future__ import annotations


class NotFound(ValueError):  # noqa: N818 (a state, named as the caller reads it)
    """Nothing stored has that id."""


class IllegalMove(ValueError):  # noqa: N818 (a state, named as the caller reads it)
    """A change of status, or of what was stored, that the states do not allow."""


class Unstorable(ValueError):  # noqa: N818 (a state, named as the caller reads it)
    """A value that no database keeps exactly: NaN, infinity, or an integer beyond 64 bits."""


class DatabaseError(ValueError):
    """A database that cannot be used: a bad address, or tables of another version."""
