"""`fusescope import` of traces: judged by content, read before anything is stored, one comparison for all of them."""

from __future__ import annotations

import gzip
import json
import shutil
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from app.cli import main
from db.comparisons import comparison
from db.imports import imported_traces
from db.models import TraceRow
from db.retention import remove_old_raw
from db.session import open_database
from db.settings import KEEP_RAW_DAYS, read_settings
from db.store import TraceStore
from profiles.bundle import read_bundle

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"
BUNDLE = next((Path(__file__).parents[2] / "samples").glob("*.fusescope"))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def run(capsys: pytest.CaptureFixture[str], state: Path, *words: str | Path) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["import", *map(str, words), "--state", str(state)])
    return (status, *capsys.readouterr())


def kept(state: Path) -> int:
    return sum(path.is_file() for path in (state / "traces").rglob("*"))


def test_traces_and_bundles_are_told_apart_by_content_and_the_traces_become_one_comparison(
    capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path
) -> None:
    odd = Path(shutil.copy(NAIVE, tmp_path / "trace.fusescope"))
    bundle = Path(shutil.copy(BUNDLE, tmp_path / "bundle.json.gz"))
    status, said, _ = run(capsys, state, odd, bundle, FLASH, "--json")
    told = [json.loads(line) for line in said.splitlines()]
    assert status == 0
    assert [Path(line["file"]).name for line in told] == ["bundle.json.gz", "trace.fusescope", FLASH.name]
    assert [line["known"] for line in told[1:]] == [False, False]
    assert told[1]["comparison"] == told[2]["comparison"]
    with closing(open_database(read_settings({}, state=state).database_url)) as db:
        shown = comparison(db, told[1]["comparison"])
        assert [trace.imported.id if trace.imported else None for trace in shown.traces] == [
            told[1]["trace"],
            told[2]["trace"],
        ]
        assert all(trace.summary is not None and trace.contents is not None for trace in shown.traces)


def test_importing_again_stores_nothing_new(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    run(capsys, state, NAIVE)
    status, said, _ = run(capsys, state, NAIVE, NAIVE, FLASH)
    assert status == 0
    assert said.splitlines() == [
        f"{NAIVE}: comparison 2; trace 1 was known",
        f"{NAIVE}: comparison 2; trace 1 was known",
        f"{FLASH}: comparison 2; trace 2 is new",
    ]
    assert kept(state) == 2


def test_what_is_kept_no_longer_is_said_by_an_export_and_an_import_brings_it_back(
    capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEEP_RAW_DAYS, "1")
    run(capsys, state, BUNDLE, NAIVE)
    grow_old(state)
    exported = tmp_path / "without.fusescope"
    assert main(["export", "1", str(exported), "--state", str(state)]) == 0
    traces = len(read_bundle(BUNDLE).traces)
    lines = capsys.readouterr().out.splitlines()
    assert f"raw traces that were removed, since this server keeps raw traces for 1 day: {traces}" in lines
    assert "their runs are in the bundle with all numbers; where it is imported they have no timeline" in lines
    _, said, _ = run(capsys, tmp_path / "elsewhere", exported)
    assert f"traces that the bundle names and does not hold: {traces}; their runs have no timeline" in said
    _, said, _ = run(capsys, state, exported)
    assert "0 runs are new" in said
    assert "traces" not in said, "they are stored here, though their raw files are not"
    _, said, _ = run(capsys, state, BUNDLE, NAIVE)
    assert f"raw traces that were no longer kept here, and are again: {traces}" in said
    assert "trace 1 was known, its raw file is kept again" in said
    assert kept(state) >= traces + 1
    grow_old(state)
    _, said, _ = run(capsys, state, NAIVE, "--json")
    assert json.loads(said)["raw_returned"] is True


def grow_old(state: Path) -> None:
    """All raw traces are two days old, and removed."""
    settings = read_settings({}, state=state)
    with closing(open_database(settings.database_url)) as db:
        with db.begin() as session:
            session.execute(update(TraceRow).values(stored_at=datetime.now(UTC) - timedelta(days=2)))
        while remove_old_raw(db, TraceStore(settings.traces_url), keep_days=1):
            pass


def test_of_a_call_with_a_broken_trace_nothing_is_stored(
    capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_bytes(gzip.decompress(NAIVE.read_bytes())[:5000])
    status, said, why = run(capsys, state, FLASH, broken)
    assert (status, said) == (2, "")
    assert f"{broken}: truncated" in why
    assert "no trace of this call was stored" in why
    status, _, why = run(capsys, state, *([FLASH] * 33))
    assert (status, "33 traces are given; accepted are at most 32 at once" in why) == (2, True)
    status, _, why = run(capsys, state, tmp_path / "absent.json")
    assert (status, "absent.json" in why) == (2, True)
    with closing(open_database(read_settings({}, state=state).database_url)) as db:
        assert imported_traces(db).total == 0
    assert kept(state) == 0
