from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect

from db.errors import DatabaseError
from db.models import Row
from db.session import Database, open_database


@pytest.fixture
def empty(database_url: str) -> Iterator[Database]:
    opened = open_database(database_url)
    yield opened
    opened.close()


def tables(database: Database) -> set[str]:
    return set(inspect(database.engine).get_table_names()) - {"alembic_version"}


def test_migrations_make_the_tables_that_the_models_describe(empty: Database) -> None:
    empty.upgrade()
    assert tables(empty) == set(Row.metadata.tables)
    with empty.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Row.metadata) == []


def test_upgrading_twice_changes_nothing(empty: Database) -> None:
    empty.upgrade()
    before = tables(empty)
    empty.upgrade()
    assert tables(empty) == before


def test_downgrading_leaves_no_table_and_upgrading_again_works(empty: Database) -> None:
    empty.upgrade()
    empty.downgrade("base")
    assert tables(empty) == set()
    empty.upgrade()
    empty.check_version()


def test_tables_of_another_version_are_refused_with_the_remedy(empty: Database) -> None:
    with pytest.raises(DatabaseError, match=r"revision None.*fusescope up"):
        empty.check_version()
    empty.upgrade()
    empty.check_version()
