"""What the commands that use the database have in common: the state directory, and a database that is ready."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from db.errors import DatabaseError, IllegalMove, NotFound
from db.session import Database, open_database
from db.settings import Settings, SettingsError, read_settings

ERRORS = (DatabaseError, IllegalMove, NotFound, SettingsError)


@dataclass(frozen=True, slots=True)
class Stored:
    settings: Settings
    database: Database


def add_state_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", type=Path, metavar="DIR", help="the state directory (FUSESCOPE_STATE, .fusescope)")


@contextmanager
def stored(options: argparse.Namespace) -> Iterator[Stored]:
    """The database that the environment and `--state` name. A file of our own is brought up to date; a server's tables
    are only checked, because others use them too."""
    settings = read_settings(state=options.state)
    database = open_database(settings.database_url)
    try:
        if database.engine.dialect.name == "sqlite":
            database.upgrade()
        else:
            database.check_version()
        yield Stored(settings, database)
    finally:
        database.close()
