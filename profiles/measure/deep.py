"""The deep profile of a variant: one forward pass in a process of its own under NVIDIA's Nsight Compute.

Whatever goes wrong there is the profile's failure, never the variant's.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from profiles import lifeline
from profiles.measure.ncu_report import METRICS, ReportError, kernels
from profiles.plan import CachePolicy
from profiles.protocol import MeasureSpec
from profiles.results import DeepProfile

TOOL = "ncu"
MOST_KERNELS = 200
TIME_LIMIT_S = 120.0


def deep_profile(spec: MeasureSpec, variant: str, *, time_limit_s: float = TIME_LIMIT_S) -> DeepProfile:
    """By the `ncu` that the environment variable NCU names, else the one on PATH; at most 200 kernels."""
    program = os.environ.get("NCU") or shutil.which(TOOL)
    if program is None:
        return DeepProfile(tool=TOOL, failure="ncu is not installed: not on PATH, and NCU names no program")
    report = Path(spec.directory) / f"deep-{variant.replace('@', '_')}.csv"
    try:
        printed = _run(program, spec, variant, report, time_limit_s)
        text = report.read_text(errors="replace") if report.is_file() else ""
        found = kernels(f"{printed}\n{text}")
    except (ReportError, OSError) as error:
        return DeepProfile(tool=TOOL, failure=str(error))
    except subprocess.TimeoutExpired:
        return DeepProfile(tool=TOOL, failure=f"it took longer than its limit of {time_limit_s:g} s")
    finally:
        report.unlink(missing_ok=True)
    return DeepProfile(tool=_version(program), kernels=found)


def _run(program: str, spec: MeasureSpec, variant: str, report: Path, time_limit_s: float) -> str:
    """What tool and target printed. In a session of its own: at the limit both are ended."""
    spec_path = report.with_suffix(".json")
    spec_path.write_bytes(msgspec.json.encode(spec))
    options = [
        *("--csv", "--page", "raw", "--print-units", "base", "--log-file", str(report)),
        *("--metrics", ",".join(METRICS), "--launch-count", str(MOST_KERNELS)),
        *("--profile-from-start", "off", "--clock-control", "none"),
        *("--cache-control", "all" if spec.plan.cache is CachePolicy.COLD else "none"),
    ]
    target = [sys.executable, "-P", "-m", "profiles.measure.forward", str(spec_path), variant]
    with subprocess.Popen(
        lifeline.command("exec", program, *options, *target),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=lifeline.environment(),
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=time_limit_s)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            spec_path.unlink(missing_ok=True)
    return printed.decode(errors="replace")


def _version(program: str) -> str:
    """`ncu 2025.1.0`; the bare name where it does not say."""
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return TOOL
    found = re.search(r"Version (\d+\.\d+(?:\.\d+)?)", told)
    return f"{TOOL} {found[1]}" if found else TOOL
