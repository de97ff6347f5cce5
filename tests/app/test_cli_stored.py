"""The commands that use the database: submit, worker, compare, export, import; with a real queue and a real worker."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from db.settings import Settings, read_settings
from tests.processes import living, wait_until
from workers.broker import broker_url, connect, own_directory, socket_path
from workers.valkey import answers, server_command

SHAPE = ("seq_q=32", "seq_kv=32", "heads=2", "kv_heads=2")
LADDER = (
    "attention-ladder",
    *("--device", "cpu", "--samples", "20"),
    *(word for axis in SHAPE for word in ("--set", axis)),
    *("--variant", "naive", "--variant", "sdpa_flash"),
)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state directory with a queue's server and `fusescope worker` at work on it."""
    directory = tmp_path_factory.mktemp("site")
    with queue_server(read_settings({}, state=directory)), worker(directory) as running:
        yield directory
        running.send_signal(signal.SIGTERM)
        assert running.wait(15) == 0
    assert wait_until(lambda: not living(naming=str(directory)), 5.0)


def queue_server(settings: Settings) -> subprocess.Popen[bytes]:
    """Ends with the block that holds it."""
    directory = settings.state / "queue"
    directory.mkdir()
    socket = socket_path(settings.state)
    own_directory(socket.parent)
    process = Ending(server_command(socket=socket, directory=directory))
    with closing(connect(broker_url(settings))) as client:
        assert wait_until(lambda: answers(client), 10.0)
    return process


class Ending(subprocess.Popen[bytes]):
    """Is ended, not waited for, at the end of its block."""

    def __exit__(self, *exception: object) -> None:
        self.terminate()
        super().__exit__(None, None, None)


def worker(state: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "app.cli", "worker", "--device", "cpu", "--state", str(state), "--json"]
    with (state / "worker.log").open("wb") as log:
        return Ending(command, stdout=log, stderr=log)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    return code, capsys.readouterr().out


@pytest.fixture(scope="module")
def job(state: Path) -> dict[str, Any]:
    """A job that was submitted and has ended."""
    with redirect_stdout(io.StringIO()) as out:
        code = main(["submit", *LADDER, "--state", str(state), "--wait", "--json"])
    assert code == 0, out.getvalue()
    submitted = json.loads(out.getvalue())
    assert isinstance(submitted, dict)
    return submitted


def test_a_job_goes_from_the_command_line_to_a_bundle_and_into_another_database(
    job: dict[str, Any], state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert job["status"] == "done"
    assert job["published"] is True
    bundle = tmp_path / "ladder.fusescope"
    exported = said(capsys, "export", str(job["comparison"]), str(bundle), "--state", str(state), "--json")
    assert exported[0] == 0
    assert json.loads(exported[1])["size_bytes"] == bundle.stat().st_size

    there = str(tmp_path / "there")
    first = json.loads(said(capsys, "import", str(bundle), "--state", there, "--json")[1])
    again = json.loads(said(capsys, "import", str(bundle), "--state", there, "--json")[1])
    assert (first["runs_new"], first["runs_known"]) == (2, 0)
    assert (again["runs_new"], again["runs_known"]) == (0, 2)
    assert again["comparisons"] == first["comparisons"]

    stored = json.loads(said(capsys, "compare", str(job["comparison"]), "--state", str(state), "--json")[1])
    imported = json.loads(said(capsys, "compare", str(first["comparisons"][0]), "--state", there, "--json")[1])
    filed = json.loads(said(capsys, "compare", str(bundle), "--json")[1])
    assert runs_of(stored) == runs_of(imported) == runs_of(filed)
    assert len(runs_of(stored)) == 2


def runs_of(compared: dict[str, Any]) -> list[dict[str, Any]]:
    return [row["run"] for workload in compared["workloads"] for row in workload["rows"]]


def test_the_baseline_of_a_comparison_is_the_readers_choice(
    job: dict[str, Any], state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison = str(job["comparison"])
    by_variant = said(capsys, "compare", comparison, "--state", str(state), "--baseline", "sdpa_flash", "--json")[1]
    first, second = json.loads(by_variant)["workloads"][0]["rows"]
    assert (first["variant"], first["baseline"], first["speed_up"]) == ("sdpa_flash", True, None)
    assert (second["variant"], second["baseline"]) == ("naive", False)
    comparison_made = second["comparison"]
    assert (comparison_made["baseline"], comparison_made["candidate"]) == ("sdpa_flash", "naive")
    assert second["speed_up"] == comparison_made["ratio"]
    assert comparison_made["low"] < comparison_made["ratio"] < comparison_made["high"]

    by_key = said(capsys, "compare", comparison, "--state", str(state), "--baseline", first["key"])[1]
    assert next(line for line in by_key.splitlines() if line.startswith("sdpa_flash")).count("baseline") == 1


def test_a_comparison_that_is_not_there_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["compare", "77", "--state", str(tmp_path)])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.startswith("fusescope: ")
    assert "77" in captured.err


def test_a_file_that_is_no_bundle_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "note.fusescope"
    file.write_text("no zip")
    for command in ("compare", "import"):
        code = main([command, str(file), "--state", str(tmp_path / "state")])
        captured = capsys.readouterr()
        assert (code, captured.out, len(captured.err.splitlines())) == (2, "", 1)


def test_a_job_without_a_queue_is_stored_and_says_that_it_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = said(capsys, "submit", *LADDER, "--state", str(tmp_path), "--name", "Later", "--json")
    submitted = json.loads(out)
    assert (code, submitted["status"], submitted["published"]) == (0, "queued", False)
    assert len(submitted["trials"]) == 1


def test_a_second_worker_for_one_device_is_refused(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wait_until((state / "worker-cpu.lock").exists, 30.0)
    assert main(["worker", "--device", "cpu", "--state", str(state)]) == 2
    assert "runs here already" in capsys.readouterr().err


def test_a_worker_for_a_device_that_is_not_here_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worker", "--device", "cuda:99", "--state", str(tmp_path)]) == 2
    assert "cuda:99" in capsys.readouterr().err
