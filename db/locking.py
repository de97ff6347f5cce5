"""Changes that must take turns across processes."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

IMPORT_LOCK = 7_305_816_115  # any number that nothing else on the server uses


def one_import_at_a_time(session: Session) -> None:
    """Wait until no other import is under way; held to the end of the transaction.

    Two imports of the same bundle would else both find its runs unknown. On SQLite every writer waits anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": IMPORT_LOCK})
