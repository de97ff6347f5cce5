"""What each page asks of the database for one drawing of it, and the lists of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from db import comparisons, history, imports, jobs, shares, workers
from db.session import Database
from db.views import HistoryFilter, Page
from profiles import presets

PER_PAGE, JOBS_PER_PAGE = 15, 20  # as app/pages/history.py and app/pages/jobs.py have them
LATEST, NEWEST = 6, 5  # app/pages/start.py
API_MOST = 100

List = Callable[..., Page[Any]]


@dataclass(frozen=True, slots=True)
class Asked:
    """`name` is the page's, with what is chosen on it."""

    name: str
    ask: Callable[[], object]


def pages(db: Database) -> Iterator[Asked]:
    yield Asked("Start", lambda: _start(db))
    for name, listed in (("comparisons", history.comparisons), ("runs", history.runs)):
        yield from _history(db, name, listed)
    last_jobs = _last(jobs.ended_jobs(db, limit=1).total, JOBS_PER_PAGE)
    yield Asked("Jobs", lambda: _jobs(db, 0))
    yield Asked("Jobs, last page", lambda: _jobs(db, last_jobs))
    yield Asked("Workers", lambda: (workers.workers(db), jobs.open_jobs(db)))
    shown = history.comparisons(db, HistoryFilter(operation="attention"), limit=1).items[0].id
    token, _ = shares.make_link(db, shown)
    yield Asked("Comparison of 7 runs", lambda: comparisons.comparison(db, shown))
    yield Asked("Shared link of 7 runs", lambda: shares.look_up_link(db, token))
    compared = _of_several_traces(db)
    yield Asked("Comparison of 2 traces", lambda: comparisons.comparison(db, compared))
    for words, wanted in (("all", HistoryFilter()), ("a rare kernel", HistoryFilter(search="fmha_cutlassF"))):
        yield Asked(f"API: 20 imported traces, {words}", _imports(db, wanted))
    yield Asked("API: 20 ended jobs", lambda: jobs.ended_jobs(db))
    yield Asked("API: 100 comparisons", lambda: history.comparisons(db, limit=API_MOST))
    yield Asked("API: 100 runs", lambda: history.runs(db, limit=API_MOST))
    yield Asked("API: 100 ended jobs", lambda: jobs.ended_jobs(db, limit=API_MOST))


def filters(states: tuple[str, ...]) -> Iterator[tuple[str, HistoryFilter]]:
    month = datetime.now(UTC) - timedelta(days=30)
    yield "all", HistoryFilter()
    yield "an operation", HistoryFilter(operation="swiglu")
    yield "a device", HistoryFilter(device_name="NVIDIA L40S")
    yield "since 30 days", HistoryFilter(since=month)
    for state in states:
        yield state, HistoryFilter(status=state)
    chosen = HistoryFilter(operation="attention", device_name="NVIDIA H200", status=states[0], since=month)
    yield "every filter", chosen
    yield "a name", HistoryFilter(search="upgrade 12")
    yield "a variant", HistoryFilter(search="@compile-max")
    yield "a rare kernel", HistoryFilter(search="fmha_cutlassF")
    yield "a common kernel", HistoryFilter(search="elementwise_kernel")
    yield "no hit", HistoryFilter(search="nowhere to be found")
    yield "every filter and a kernel", replace(chosen, search="fmha")


def _history(db: Database, name: str, listed: List) -> Iterator[Asked]:
    states = ("done", "failed", "running") if name == "comparisons" else ("succeeded", "failed", "refused")
    for words, wanted in filters(states):
        yield Asked(f"History, {name}: {words}", _listing(db, listed, wanted, 0))
        last = _last(listed(db, wanted, limit=1).total, PER_PAGE)
        if last:
            yield Asked(f"History, {name}: {words}, last page", _listing(db, listed, wanted, last))


def _listing(db: Database, listed: List, wanted: HistoryFilter, offset: int) -> Callable[[], object]:
    return lambda: (history.filter_choices(db), listed(db, wanted, offset=offset, limit=PER_PAGE))


def _imports(db: Database, wanted: HistoryFilter) -> Callable[[], object]:
    return lambda: imports.imported_traces(db, wanted)


def _of_several_traces(db: Database) -> int:
    found = history.comparisons(db, HistoryFilter(search="Traces "), limit=1)
    return found.items[0].id


def _last(total: int, per_page: int) -> int:
    return max(total - 1, 0) // per_page * per_page


def _jobs(db: Database, offset: int) -> object:
    return jobs.open_jobs(db), workers.workers(db), jobs.ended_jobs(db, offset=offset, limit=JOBS_PER_PAGE)


def _start(db: Database) -> None:
    """Each question's card looks at the newest comparison of its operation that has runs to compare."""
    workers.workers(db)
    for preset in presets.PRESETS:
        if preset.on_start:
            request = presets.request(preset.name, device="cuda")
            newest = HistoryFilter(operation=request.trials[0].workload.operation)
            found = history.latest_comparisons(db, newest, limit=NEWEST)
            comparisons.comparison(db, found[0].id)
            jobs.expected_seconds(db, request)
    jobs.open_jobs(db)
    history.comparisons(db, HistoryFilter(), offset=0, limit=LATEST)
