import itertools
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from sqlalchemy import select, text

from db import timelines
from db.errors import NotFound
from db.models import TimelineChunkRow, TraceRow
from db.records import TimelineTables
from db.runs import store_run
from db.session import Database
from db.store import TraceStore, file_sha256
from db.traces import StoredTrace, identify_trace, save_trace
from profiles.trace.causes import Cause
from profiles.trace.child import ParsedTrace, parse_in_child
from profiles.trace.timeline import Timeline
from profiles.trace.timeline import load_timeline as read_timeline
from tests.db.examples import CPU, measured, submit_and_claim
from tests.db.traces_of_runs import timeline_of, trace_of

TRACE = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"
COLUMNS = ("track", "name", "start_ns", "duration_ns", "launch", "stages", "cause")
TABLES = ("tracks", "names", "short_names", "roles", "stage_sets", "steps", "causes")


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> ParsedTrace:
    return parse_in_child(TRACE, device=None, directory=tmp_path_factory.mktemp("parsed"))


@pytest.fixture(scope="module")
def drawn(parsed: ParsedTrace) -> Timeline:
    return read_timeline(parsed.timeline_path)


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore((tmp_path / "traces").as_uri())


def run_with(database: Database, trace: StoredTrace | None) -> int:
    _, trial_id, attempt = submit_and_claim(database, "naive")
    owner = {"trial_id": trial_id, "worker": "w1", "attempt": attempt}
    run_id = store_run(database, run=measured("naive"), environment=CPU, trace=trace, **owner)
    assert run_id is not None
    return run_id


def assert_same(found: Timeline | None, expected: Timeline) -> None:
    assert found is not None
    for table in TABLES:
        assert getattr(found, table) == getattr(expected, table)
    for column in COLUMNS:
        assert getattr(found, column).dtype == getattr(expected, column).dtype
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


def long_timeline(drawn: Timeline, slices: int) -> Timeline:
    rng = np.random.default_rng(7)
    columns = {
        "track": rng.integers(0, len(drawn.tracks), slices).astype(np.uint16),
        "name": rng.integers(0, len(drawn.names), slices).astype(np.uint32),
        "start_ns": np.sort(rng.integers(0, 2**50, slices)).astype(np.int64),
        "duration_ns": rng.integers(0, 2**40, slices).astype(np.int64),
        "launch": rng.integers(-1, slices, slices).astype(np.int32),
        "stages": np.zeros(slices, np.uint32),
        "cause": rng.integers(0, len(drawn.causes), slices).astype(np.uint32),
    }
    return replace(drawn, **columns)


def test_a_trace_comes_back_as_it_was_stored(
    database: Database, store: TraceStore, parsed: ParsedTrace, drawn: Timeline
) -> None:
    assert len(drawn.start_ns) > 0
    trace = save_trace(database, store, TRACE, drawn, parsed.summary)
    assert trace == StoredTrace(file_sha256(TRACE))
    run_id = run_with(database, trace)
    assert_same(timeline_of(database, run_id), drawn)
    with database.read() as session:
        assert session.scalar(select(TraceRow.summary)) == parsed.summary
    with store.open(trace_of(database, run_id).sha256) as raw:
        assert raw.read() == TRACE.read_bytes()


def test_long_timelines_are_kept_in_chunks_of_limited_size(
    database: Database, store: TraceStore, parsed: ParsedTrace, drawn: Timeline
) -> None:
    long = long_timeline(drawn, 2 * timelines.MOST_SLICES + 5)
    run_id = run_with(database, save_trace(database, store, TRACE, long, parsed.summary))
    with database.read() as session:
        chunks = session.execute(
            select(TimelineChunkRow.n, TimelineChunkRow.t0, TimelineChunkRow.t1).order_by(TimelineChunkRow.seq)
        ).all()
    assert [n for n, _, _ in chunks] == [timelines.MOST_SLICES, timelines.MOST_SLICES, 5]
    assert (chunks[0][1], chunks[-1][2]) == (int(long.start_ns[0]), int(long.start_ns[-1]))
    assert all(before[2] <= after[1] for before, after in itertools.pairwise(chunks))
    assert_same(timeline_of(database, run_id), long)


def test_chunks_of_before_causes_were_kept_tell_none(drawn: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn.cause.any()
    tables = timelines.tables_of(drawn)
    old = msgspec.json.decode(
        msgspec.json.encode({name: getattr(tables, name) for name in TABLES if name != "causes"}), type=TimelineTables
    )
    with monkeypatch.context() as patched:
        patched.setattr(timelines, "EMPTY", {k: v for k, v in timelines.EMPTY.items() if k != "cause"})
        chunks = [chunk.data for chunk in timelines.chunks_of(drawn)]
    read = timelines.timeline_of(old, chunks)
    assert (read.causes, len(read.cause), read.cause.any()) == ((Cause(),), len(drawn.cause), False)
    assert_same(replace(read, cause=drawn.cause, causes=drawn.causes), drawn)


def test_an_empty_timeline_comes_back_empty(
    database: Database, store: TraceStore, parsed: ParsedTrace, drawn: Timeline
) -> None:
    empty = long_timeline(drawn, 0)
    run_id = run_with(database, save_trace(database, store, TRACE, empty, parsed.summary))
    assert_same(timeline_of(database, run_id), empty)


def test_the_same_file_twice_is_one_trace(
    database: Database, store: TraceStore, parsed: ParsedTrace, drawn: Timeline
) -> None:
    for _ in range(2):
        run_with(database, save_trace(database, store, TRACE, drawn, parsed.summary))
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM trace")) == 1
        assert session.scalar(text("SELECT count(*) FROM timeline_chunk")) == 1


def test_a_run_without_a_trace_has_none_and_neither_has_one_that_is_not_there(database: Database) -> None:
    assert identify_trace(database, run_id=run_with(database, None)) is None
    assert identify_trace(database, run_id=99) is None
    assert identify_trace(database, trace_id=99) is None


def test_a_file_that_cannot_be_copied_leaves_nothing_behind(store: TraceStore, tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("a file where the store's directory should be")
    with pytest.raises(OSError, match="traces"):
        store.put(TRACE)
    assert (tmp_path / "traces").read_text().startswith("a file")


def test_the_store_holds_whole_files_by_their_hash_and_no_others(store: TraceStore, tmp_path: Path) -> None:
    sha256 = store.put(TRACE)
    assert store.put(TRACE) == sha256
    held = [path.relative_to(tmp_path / "traces") for path in (tmp_path / "traces").rglob("*") if path.is_file()]
    assert held == [Path(sha256[:2]) / f"{sha256}.json.gz"]
    assert store.holds(sha256)
    store.fetch(sha256, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == TRACE.read_bytes()
    assert not store.holds("0" * 64)
    for unknown in ("0" * 64, "../../etc/passwd"):
        with pytest.raises(NotFound):
            store.open(unknown)


def test_a_store_may_be_anything_that_fsspec_reaches() -> None:
    store = TraceStore("memory://fusescope-test/traces")
    sha256 = store.put(TRACE)
    with store.open(sha256) as raw:
        assert raw.read() == TRACE.read_bytes()
