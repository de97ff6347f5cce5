"""The web application in this process, on a database of its own and without a broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app import context
from app.server import app
from db.session import Database


@pytest.fixture
def web_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """The database that the application under test opens; its broker is a socket where nobody listens."""
    monkeypatch.setenv("FUSESCOPE_STATE", str(tmp_path))
    monkeypatch.setenv("FUSESCOPE_REDIS_URL", f"redis+socket://{tmp_path / 'nobody.sock'}")
    monkeypatch.delenv("FUSESCOPE_DATABASE_URL", raising=False)
    context.settings.cache_clear()
    context.database.cache_clear()
    database = context.database()
    database.upgrade()
    yield database
    database.close()
    context.settings.cache_clear()
    context.database.cache_clear()


@pytest.fixture
def client(web_database: Database) -> TestClient:
    """Without Streamlit's runtime: our own routes need none."""
    del web_database
    return TestClient(app, base_url="http://localhost", follow_redirects=False)
