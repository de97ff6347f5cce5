from collections.abc import Iterator
from pathlib import Path

import pytest

from db.session import Database, open_database


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Database]:
    """Another installation's database."""
    opened = open_database(f"sqlite:///{tmp_path / 'elsewhere' / 'fusescope.db'}")
    opened.upgrade()
    yield opened
    opened.close()
