"""Deep profiles: Nsight Compute's report as it prints it, a stand-in that prints one, and all that can go wrong."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from profiles.measure.deep import deep_profile
from profiles.measure.ncu_report import METRICS, ReportError, kernels
from profiles.plan import Plan
from profiles.protocol import MeasureSpec
from profiles.results import DeepKernel
from tests.profiles.measure.child import SMALL

# The form of `ncu --csv --page raw --print-units base` 2024.3: the tool's own lines, names, units, one line a kernel.
REPORT = """==PROF== Connected to process 4242 (/usr/bin/python3.12)
==PROF== Profiling "flash_fwd_kernel" - 0: 0%....50%....100% - 7 passes
==PROF== Profiling "vectorized_elementwise_kernel" - 1: 0%....50%....100% - 7 passes
==PROF== Disconnected from process 4242
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"dram__bytes_read.sum","dram__bytes_write.sum","gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",\
"gpu__time_duration.sum","launch__registers_per_thread","sm__throughput.avg.pct_of_peak_sustained_elapsed",\
"sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","","","","","","","","byte","byte","%","ns","register/thread","%","%"
"0","4242","python3.12","127.0.0.1","void pytorch_flash::flash_fwd_kernel<traits<64, 128, 128>, false>(params)","1",\
"7","(128, 1, 1)","(8, 8, 16)","0","9.0","50,365,952","16,777,216","33.47","96,416","255","41.20","12.38"
"1","4242","python3.12","127.0.0.1","void at::native::vectorized_elementwise_kernel<4, ""mul"">(int)","1","7",\
"(128, 1, 1)","(1024, 1, 1)","0","9.0","n/a","8192","91.5","2,048","32","nan","88.1"
"""
USECONDS = REPORT.replace('"ns"', '"usecond"').replace('"byte","byte"', '"Mbyte","Kbyte"')
DENIED = (
    "==PROF== Connected to process 77 (/usr/bin/python3)\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the"
    " target device 0. For instructions on enabling permissions and to get more information see"
    " https://developer.nvidia.com/ERR_NVGPUCTRPERM\n"
)


def test_a_report_gives_each_kernel_with_its_shares_and_its_traffic() -> None:
    assert kernels(REPORT) == (
        DeepKernel(
            name="void pytorch_flash::flash_fwd_kernel<traits<64, 128, 128>, false>(params)",
            duration_ns=96416.0,
            compute_percent=41.2,
            memory_percent=33.47,
            dram_read_bytes=50365952.0,
            dram_written_bytes=16777216.0,
            occupancy_percent=12.38,
            registers=255,
        ),
        DeepKernel(
            name='void at::native::vectorized_elementwise_kernel<4, "mul">(int)',
            duration_ns=2048.0,
            memory_percent=91.5,
            dram_written_bytes=8192.0,
            occupancy_percent=88.1,
            registers=32,
        ),
    )


def test_scaled_units_are_scaled_back() -> None:
    first = kernels(USECONDS)[0]
    assert first.duration_ns == 96416.0 * 1e3
    assert (first.dram_read_bytes, first.dram_written_bytes) == (50365952.0 * 1e6, 16777216.0 * 1e3)


def test_metrics_that_a_device_does_not_have_are_unknown() -> None:
    without = "\n".join(line for line in REPORT.replace("dram__bytes_read.sum", "something_else").splitlines())
    assert kernels(without)[0].dram_read_bytes is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DENIED, "ERR_NVGPUCTRPERM: this user may not read the GPU's performance counters"),
        ("==ERROR== The application returned an error code (11).\n", "The application returned an error code (11)."),
        ("==WARNING== No kernels were profiled.\n", "no kernel was profiled"),
        ("", "it printed no report: nothing at all"),
        ("python: can't open file\n", "it printed no report: python: can't open file"),
        ('"ID","Kernel Name"\n', "its report lists no kernel"),
        ('"ID","Something"\n"",""\n"0","x"\n', "its report lists no kernel"),
    ],
)
def test_a_report_without_kernels_says_why(text: str, reason: str) -> None:
    with pytest.raises(ReportError) as raised:
        kernels(text)
    assert reason in str(raised.value)


def _tool(folder: Path, body: str) -> str:
    """A program that is called as ncu is; `body` sees the target's command line as "$@" and the report as $log."""
    path = folder / "ncu"
    path.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo "Version 2024.3.2.0 (build 34861637)"; exit 0; fi\n'
        'echo "$@" > "$(dirname "$0")/asked"\n'
        'while [ "$1" != --log-file ]; do shift; done; log=$2\n'
        f'while [ "${{1##*/}}" != "$(basename "$PYTHON")" ]; do shift; done\n{body}\n'
    )
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MeasureSpec:

    monkeypatch.setenv("PYTHON", sys.executable)
    (tmp_path / "trial").mkdir()
    return MeasureSpec(
        workload=SMALL,
        variants=("naive",),
        plan=Plan(deep=True),
        device="cpu",
        directory=str(tmp_path / "trial"),
        events_fd=-1,
    )


def test_the_tool_runs_the_variants_forward_pass_in_a_process_of_its_own(
    spec: MeasureSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report").write_text(REPORT)
    monkeypatch.setenv("NCU", _tool(tmp_path, f'"$@" && cp "{tmp_path / "report"}" "$log"'))
    found = deep_profile(spec, "naive")
    assert (found.failure, found.tool, len(found.kernels)) == (None, "ncu 2024.3.2", 2)
    asked = (tmp_path / "asked").read_text()
    assert all(metric in asked for metric in METRICS)
    assert "--clock-control none" in asked
    assert "--profile-from-start off" in asked
    assert "--cache-control all" in asked
    assert list((tmp_path / "trial").iterdir()) == []


def test_a_variant_that_cannot_run_there_fails_its_profile_with_the_reason(
    spec: MeasureSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCU", _tool(tmp_path, '"$@"'))
    found = deep_profile(spec, "sdpa_efficient")
    assert found.kernels == ()
    assert found.failure is not None
    assert "No viable backend" in found.failure or "No available kernel" in found.failure


def test_a_user_without_permission_is_told_so(
    spec: MeasureSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "denied").write_text(DENIED)
    monkeypatch.setenv("NCU", _tool(tmp_path, f'cp "{tmp_path / "denied"}" "$log"; exit 1'))
    assert "ERR_NVGPUCTRPERM" in (deep_profile(spec, "naive").failure or "")


def test_a_tool_that_does_not_end_is_ended_with_what_it_started(
    spec: MeasureSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    monkeypatch.setenv("NCU", _tool(tmp_path, f'sleep 60 & echo $! > "{pid}"; wait'))
    found = deep_profile(spec, "naive", time_limit_s=2.0)
    assert found.failure == "it took longer than its limit of 2 s"
    deadline = time.monotonic() + 5
    while _alive(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(int(pid.read_text()))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_machine_without_the_tool_says_so(spec: MeasureSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NCU", raising=False)
    monkeypatch.setenv("PATH", "")
    assert "ncu is not installed" in (deep_profile(spec, "naive").failure or "")


def test_a_tool_that_is_not_there_fails_the_profile(spec: MeasureSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCU", "/nowhere/ncu")
    assert deep_profile(spec, "naive").failure is not None
