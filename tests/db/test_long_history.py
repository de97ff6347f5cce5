"""What pages ask of a long history: as many statements however long it is, and searches answered by indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import event

from benchmarks.history.filling import fill
from benchmarks.history.made import trials
from benchmarks.history.pages import pages
from benchmarks.history.timing import sent
from db import history
from db.session import Database
from db.views import HistoryFilter

RUNS, TRACES = 30, 2
# BEGIN is a statement of its own on SQLite; a page asks several times.
MOST_STATEMENTS = {"Start": 60, "Jobs": 18, "Workers": 10, "History": 9, "Comparison": 8, "Shared": 9, "API": 8}
INDICES = ("ix_kernel_stat_kernel_id_run_id", "ix_trace_kernel_kernel_id_trace_id")


def statements(database: Database) -> dict[str, int]:
    """How many each page sends."""
    counted = {}
    for asked in pages(database):
        with sent(database) as found:
            asked.ask()
        counted[asked.name] = len(found)
    return counted


def test_a_page_sends_as_many_statements_however_long_the_history_is(database: Database) -> None:
    fill(database, trials(RUNS), traces=TRACES)
    before = statements(database)
    for name, count in before.items():
        most = next(most for page, most in MOST_STATEMENTS.items() if name.startswith(page))
        assert count <= most, f"{name} sends {count} statements"
    fill(database, trials(RUNS, seed=1), traces=TRACES, seed=1)
    after = statements(database)
    assert {name: count for name, count in after.items() if count > before.get(name, count)} == {}


def test_a_search_finds_every_run_and_a_kernels_name_by_index(sqlite_database: Database) -> None:
    made = list(trials(RUNS))
    fill(sqlite_database, made, traces=TRACES)
    for name in ("elementwise_kernel", "fmha_cutlassF"):
        launching = [run for one in made for run in one.trial.runs if any(name in k.name for k in run.kernels)]
        wanted = HistoryFilter(search=name)
        assert history.runs(sqlite_database, wanted).total == len(launching) > 0
        plan = "\n".join(plans(sqlite_database, lambda: history.comparisons(sqlite_database, wanted)))  # noqa: B023
        assert all(f"COVERING INDEX {index}" in plan for index in INDICES)
        assert "SCAN kernel_stat" not in plan
        assert "SCAN trace_kernel" not in plan


def plans(database: Database, ask: Callable[[], object]) -> Iterator[str]:
    """How the database answers each statement that looks for kernels."""
    kept: list[tuple[str, object]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        kept.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    ask()
    event.remove(database.engine, "before_cursor_execute", note)
    with database.engine.connect() as connection:
        for statement, parameters in kept:
            if "kernel_stat" in statement:
                explained = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                yield from (str(row) for row in explained)
