"""Runs a script as its reader would: elsewhere, with torch and without anything of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from profiles import catalog
from profiles.comparison.entry import MeasuredEntry
from profiles.environment import Environment
from profiles.plan import CachePolicy, Plan
from profiles.results import Correctness, Failure, FailureKind, Metric, Run, RunStatus
from profiles.workload import Workload
from tests.profiles.operations import small

CPU = Environment(device="cpu", device_name="a processor", torch="2.13.0", python="3.11.2", platform="Linux")
H200 = Environment(
    device="cuda", device_name="NVIDIA H200", torch="2.11.0", cuda="13.0", python="3.12.3", platform="Linux"
)
WORKLOADS = {
    "attention": small.attention(),
    "swiglu": small.swiglu(),
    "residual_rms_norm": small.residual_rms_norm(),
    "decoder_prefill": small.decoder_prefill(),
}
EVERY = [(o.name, str(v)) for o in catalog.OPERATIONS for v in catalog.variants(o)]
OURS = ("app", "db", "profiles", "workers", "tests")
ABSENT = (*OURS, "msgspec", "psutil", "transformers", "streamlit", "sqlalchemy", "celery", "pyarrow")
WITHOUT = """
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def entry(
    operation: str = "attention",
    variant: str = "naive",
    *,
    workload: Workload | None = None,
    environment: Environment = CPU,
    cache: CachePolicy = CachePolicy.COLD,
    run: Run | None = None,
    key: str = "A",
) -> MeasuredEntry:
    return MeasuredEntry(
        key=key,
        variant=variant,
        run=run or succeeded(variant),
        workload=workload or WORKLOADS[operation],
        plan=Plan(cache=cache),
        environment=environment,
    )


def succeeded(variant: str) -> Run:
    time = Metric(name="call_time", unit="ns", statistic="median", value=5e4, low=4e4, high=6e4, interval="p25-p75")
    return Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(time,))


def refused(variant: str, message: str) -> Run:
    failure = Failure(kind=FailureKind.UNSUPPORTED, message=message)
    return Run(variant=variant, status=RunStatus.REFUSED, failure=failure)


def checked(run: Run, *, tolerance: float) -> Run:
    correctness = Correctness(relative_l2=0.0, max_abs=0.0, nonfinite=0, tolerance=tolerance, passed=True)
    return msgspec.structs.replace(run, correctness=correctness)


def ran(
    text: str, folder: Path, *arguments: str, absent: tuple[str, ...] = ABSENT, python: str = "-I"
) -> subprocess.CompletedProcess[str]:
    """The script's process in `folder`, by an isolated Python that finds none of the packages `absent`."""
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, python, "-X", "utf8", "-c", WITHOUT.format(absent=absent), str(path), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=170)
