"""A trace that cannot be read to its end leaves nothing: no row, no raw file, no timeline."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from db.bundles import import_bundle
from db.session import Database
from db.store import TraceStore, file_sha256
from profiles.bundle import BundleError, write_bundle
from profiles.plan import Plan
from profiles.results import Results, Trial
from profiles.trace.limits import MAX_BYTES
from tests.db.examples import H200, attention, measured

RECORDING = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"
TEXT = gzip.decompress(RECORDING.read_bytes())
TABLES = ("run", "trace", "timeline_chunk", "comparison")


def _cut_within_its_events() -> bytes:
    return gzip.compress(TEXT[: len(TEXT) // 2])


def _cut_within_its_packing() -> bytes:
    return gzip.compress(TEXT)[:-40]


def _nested_deeply() -> bytes:
    return gzip.compress(TEXT.rstrip()[:-1] + b', "more": ' + b"[" * 100_000)


def _a_bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    texts = [TEXT, *[b" " * 1_000_000] * 80]
    return b"".join(map(packer.compress, texts)) + packer.flush()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_cut_within_its_events, "truncated: the file ends at byte"),
        (_cut_within_its_packing, "truncated: the gzip data ends early"),
        (_nested_deeply, "nested deeper than 128"),
        (_a_bomb, "more than the limit of 200 to 1"),
    ],
)
def test_a_bundle_with_a_trace_that_ends_badly_leaves_nothing_though_its_other_trace_is_good(
    sqlite_database: Database, tmp_path: Path, content: Callable[[], bytes], message: str
) -> None:
    bad = tmp_path / "bad.json.gz"
    bad.write_bytes(content())
    bundle = _bundle(tmp_path, bad)
    store = TraceStore((tmp_path / "traces").as_uri())
    with pytest.raises(BundleError, match=message):
        import_bundle(sqlite_database, store, bundle)
    assert _rows(sqlite_database) == dict.fromkeys(TABLES, 0)
    assert _files(tmp_path) == []


def test_what_a_limit_refused_is_stored_whole_once_the_limit_is_lifted(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = _bundle(tmp_path, RECORDING)
    store = TraceStore((tmp_path / "traces").as_uri())
    monkeypatch.setenv(MAX_BYTES, "1000")
    with pytest.raises(BundleError, match="larger than the limit of 1,000 bytes"):
        import_bundle(sqlite_database, store, bundle)
    assert _files(tmp_path) == []
    monkeypatch.delenv(MAX_BYTES)
    import_bundle(sqlite_database, store, bundle)
    assert _rows(sqlite_database)["trace"] == len(_files(tmp_path)) == 1
    assert _rows(sqlite_database)["timeline_chunk"] == 1


def _bundle(tmp_path: Path, *more: Path) -> Path:
    """One with the good recording and `more`, a run for each."""
    traces = {file_sha256(path): path for path in (RECORDING, *more)}
    variants = ("naive", "sdpa_flash")
    runs = (msgspec.structs.replace(measured(name), trace=trace) for name, trace in zip(variants, traces, strict=False))
    trial = Trial(workload=attention(), runs=tuple(runs))
    path = tmp_path / "traces.fusescope"
    results = Results(preset="attention-ladder", plan=Plan(), environment=H200, trials=(trial,), name="H200")
    write_bundle(path, results, traces)
    return path


def _rows(database: Database) -> dict[str, int]:
    with database.read() as session:
        return {table: session.scalars(text(f"SELECT count(*) FROM {table}")).one() for table in TABLES}  # noqa: S608


def _files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "traces").rglob("*") if path.is_file()]
