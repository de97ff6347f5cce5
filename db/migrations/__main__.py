"""`python -m db.migrations`: bring the database of this environment to this version."""

from __future__ import annotations

from db.session import open_database
from db.settings import read_settings

if __name__ == "__main__":
    database = open_database(read_settings().database_url)
    database.upgrade()
    database.close()
