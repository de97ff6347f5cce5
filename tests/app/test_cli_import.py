"""`fusescope import` of traces: judged by content, read before anything is stored, one comparison for all of them."""

from __future__ import annotations

import gzip
import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from app.cli import main
from db.comparisons import comparison
from db.imports import imported_traces
from db.session import open_database
from db.settings import read_settings

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
