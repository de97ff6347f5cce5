"""Changes that must take turns across processes."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

IMPORT_LOCK = 7_305_816_115  # any number that nothing else on the server uses


def one_import_at_a_time(session: Session) -> None:
    """Wait until no other import is under way; held to the end of the transaction.

    Two imports of the same bundle would else both find its runs unknown. On SQLite every writer waits, from the begin
    of its transaction, which is here and not with the first statement: files are looked at before.
    """
    if session.connection().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": IMPORT_LOCK})


def nobody_imports(session: Session) -> bool:
    """Take the same lock unless somebody has it: for what may as well be done later."""
    if session.connection().dialect.name != "postgresql":
        return True
    return bool(session.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": IMPORT_LOCK}))
