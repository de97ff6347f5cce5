from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.commands import checks
from db.session import open_database
from db.settings import read_settings
from profiles.worker import Capabilities


def found(capsys: pytest.CaptureFixture[str], state: Path) -> tuple[int, dict[str, dict[str, str | None]]]:
    code = main(["doctor", "--state", str(state), "--json"])
    return code, {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def test_everything_is_looked_at_and_a_new_state_directory_is_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FUSESCOPE_DATABASE_URL", "FUSESCOPE_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    code, seen = found(capsys, tmp_path / "new")
    assert code == 0
    assert {"python", "torch", "gpu", "cpu", "compiler", "valkey", "queue", "database", "state"} <= seen.keys()
    assert (seen["database"]["state"], seen["database"]["found"]) == ("warn", "not made yet")
    assert not (tmp_path / "new").exists()


def test_a_database_of_this_version_is_ok(tmp_path: Path) -> None:
    settings = read_settings({}, state=tmp_path)
    database = open_database(settings.database_url)
    database.upgrade()
    database.close()
    assert checks.database(settings).state == "ok"


def test_a_database_without_tables_fails_with_the_remedy(tmp_path: Path) -> None:
    settings = read_settings({}, state=tmp_path)
    (tmp_path / "fusescope.db").touch()
    check = checks.database(settings)
    assert check.state == "fail"
    assert "python -m db.migrations" in (check.remedy or "")


def test_a_database_server_that_does_not_answer_fails_and_the_exit_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSESCOPE_DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/nothing")
    monkeypatch.setenv("FUSESCOPE_REDIS_URL", "redis://127.0.0.1:1/0")
    code, seen = found(capsys, tmp_path)
    assert code == 1
    assert (seen["database"]["state"], seen["queue"]["state"]) == ("fail", "fail")
    assert "secret" not in json.dumps(seen)


def test_every_fault_has_a_remedy() -> None:
    bare = Capabilities(
        device="cpu", device_name="A device", memory_bytes=None, host="host", torch=None, packages={}, compiler=False
    )
    for check in (checks.torch([bare]), checks.compiler([bare]), checks.transformers([bare])):
        assert check.state != "ok"
        assert check.remedy


def test_a_gpu_with_a_torch_that_cannot_use_it_is_a_warning() -> None:
    gpu = Capabilities(
        device="cuda:0", device_name="A GPU", memory_bytes=1, host="h", torch="2.13.0+cpu", packages={}, compiler=True
    )
    assert checks.torch([gpu]).state == "warn"


def test_lines_for_people_carry_the_remedy_below(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--state", str(tmp_path / "new")])
    lines = capsys.readouterr().out.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("warn  database"))
    assert lines[place + 1].strip() == "→ `fusescope up` makes it"
