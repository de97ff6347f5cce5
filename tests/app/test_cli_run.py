"""`fusescope run` on this machine's processor, with real measuring processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from profiles.bundle import read_bundle
from profiles.results import Results, RunStatus
from tests.processes import living, wait_until

SMALL = ("--device", "cpu", "--samples", "20", "--budget", "2", "--set", "rows=8", "--set", "width=32")
NORM = ("run", "fusion-pairs", *SMALL, "--variant", "functional")
UNWANTED = ("db", "workers", "sqlalchemy", "celery", "redis", "pyarrow", "streamlit", "torch")
PROGRAM = f"""
import sys
from app.cli import main
code = main(sys.argv[1:])
print("loaded:", *(name for name in {UNWANTED!r} if name in sys.modules), file=sys.stderr)
sys.exit(code)
"""


def fusescope(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    output = tmp_path_factory.mktemp("run") / "norm.fusescope"
    return fusescope(*NORM, "--json", "--output", str(output)), output


def test_a_run_prints_its_results_as_json_alone_on_standard_output(
    measured: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    ended, _ = measured
    assert ended.returncode == 0, ended.stderr
    results = msgspec.json.decode(ended.stdout, type=Results)
    (trial,) = results.trials
    (run,) = trial.runs
    assert (results.preset, results.environment.device, results.plan.samples) == ("fusion-pairs", "cpu", 20)
    assert trial.workload.axes == {"rows": 8, "width": 32}
    assert (run.variant, run.status) == ("functional", RunStatus.SUCCEEDED)


def test_a_run_has_what_was_asked_of_it(measured: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    run = msgspec.json.decode(measured[0].stdout, type=Results).trials[0].runs[0]
    call_time = run.metric("call_time")
    assert call_time is not None
    assert call_time.samples is not None
    assert len(call_time.samples) >= 20
    assert run.metric("first_call") is not None
    assert run.metric("gpu_time") is None
    assert run.counts is not None
    assert run.counts.operators is not None
    assert run.counts.kernels is None
    assert run.correctness is not None
    assert run.correctness.passed


def test_a_run_loads_no_database_no_queue_and_no_server(
    measured: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    assert measured[0].stderr.splitlines()[-1] == "loaded:"


def test_progress_goes_to_standard_error_line_by_line(
    measured: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    lines = measured[0].stderr.splitlines()
    assert lines[0] == "residual_rms_norm 8×32, fp32 on cpu"
    assert "  functional: timing" in lines
    assert lines[-2].startswith("  functional: succeeded, ")


def test_the_bundle_holds_the_same_results_and_the_trace(
    measured: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    ended, output = measured
    bundle = read_bundle(output)
    results = msgspec.json.decode(ended.stdout, type=Results)
    assert bundle.results == (results,)
    assert bundle.traces == {results.trials[0].runs[0].trace}


def test_a_refused_variant_is_no_failure_and_says_why() -> None:
    ended = fusescope(
        "run", "attention-ladder", "--device", "cpu", "--samples", "20", "--variant", "sdpa_cudnn", "--json"
    )
    assert ended.returncode == 0, ended.stderr
    run = msgspec.json.decode(ended.stdout, type=Results).trials[0].runs[0]
    assert run.status is RunStatus.REFUSED
    assert run.failure is not None
    assert run.failure.message


def test_the_table_for_people_has_the_variant_and_its_figures() -> None:
    ended = fusescope(*NORM)
    assert ended.returncode == 0, ended.stderr
    title, machine, _, head, row, *_ = ended.stdout.splitlines()
    assert title == "Residual + RMS norm: 8×32, fp32"
    assert "torch" in machine
    assert head.split()[0] == "variant"
    assert "operators" in head
    assert row.split()[0] == "functional"
    assert "baseline" in row


def test_without_torch_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    ended = fusescope(*NORM, PYTHONPATH=str(tmp_path))
    assert (ended.returncode, ended.stdout) == (1, "")
    told = [line for line in ended.stderr.splitlines() if line.startswith("fusescope: ")]
    assert len(told) == 1
    assert "torch" in told[0]
    assert "Traceback" not in ended.stderr


def test_a_device_that_is_not_here_is_refused_with_what_there_is() -> None:
    told = fusescope("run", "attention-ladder", "--device", "cuda:63")
    assert (told.returncode, told.stdout) == (2, "")
    assert "no device 'cuda:63' on this machine; expected one of" in told.stderr
    assert "'cpu'" in told.stderr


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    ended = fusescope(*NORM, "--output", str(tmp_path / "nowhere" / "norm.fusescope"))
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[0].startswith("fusescope: --output ")


def test_results_are_shown_also_when_the_bundle_cannot_be_written_after_all(tmp_path: Path) -> None:
    output = tmp_path / "norm.fusescope"
    command = [sys.executable, "-m", "app.cli", *NORM, "--json", "--output", str(output)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()  # the place was checked before the first line
        output.mkdir()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"{output} cannot be written" in err
    assert msgspec.json.decode(out, type=Results).trials[0].runs[0].status is RunStatus.SUCCEEDED


def test_an_interruption_ends_the_measuring_processes_and_shows_what_there_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app.cli", "run", "attention-ladder", "--device", "cpu", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        assert wait_until(lambda: "checking" in process.stderr.readline(), 60.0)  # type: ignore[union-attr]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 1, err
    runs = msgspec.json.decode(out, type=Results).trials[0].runs
    assert RunStatus.CANCELLED in {run.status for run in runs}
    assert living(naming=str(tmp_path)) == []


def test_an_interruption_before_anything_is_known_is_one_line_and_no_result(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app.cli", "run", "attention-ladder", "--device", "cpu", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        assert "attention" in process.stderr.readline()  # torch is still being imported
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "fusescope: interrupted before anything was measured"
    assert "Traceback" not in err
    assert living(naming=str(tmp_path)) == []


def test_a_variant_that_is_compared_with_itself_is_not_told_apart_from_itself() -> None:
    ended = fusescope(*NORM, "--aa", "--json")
    assert ended.returncode == 0, ended.stderr
    (trial,) = msgspec.json.decode(ended.stdout, type=Results).trials
    (run,) = trial.runs
    assert "call_time" in {metric.name for metric in run.twin}
    found = {one.metric: one for one in trial.comparisons}
    assert found["call_time"].builds >= 8
    assert {(one.baseline, one.candidate) for one in trial.comparisons} == {("functional", "functional")}
    assert all(one.low is not None and one.low < one.ratio for one in trial.comparisons)


def test_two_variants_of_a_run_are_compared_in_its_results() -> None:
    ended = fusescope(*NORM, "--variant", "unfused", "--json")
    assert ended.returncode == 0, ended.stderr
    _, trial = msgspec.json.decode(ended.stdout, type=Results).trials  # the first is SwiGLU's, unfused alone
    assert {(one.baseline, one.candidate) for one in trial.comparisons} == {("unfused", "functional")}
    assert "call_time" in {one.metric for one in trial.comparisons}
