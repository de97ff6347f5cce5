"""Measure presets through the child alone: `python benchmarks/measure_presets.py --device cuda:0`.

What the child says is printed. No supervisor and no trace reader takes part; traces and `events.jsonl` stay in the
output directory, one folder per trial. Needs torch, numpy and msgspec (transformers for the decoder).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from profiles import lifeline
from profiles.job import TrialRequest
from profiles.plan import Plan
from profiles.presets import PRESETS, request
from profiles.protocol import Event, Finished, MeasureSpec, Started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=[preset.name for preset in PRESETS])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--output", type=Path, default=Path("measured"))
    parser.add_argument("--budget-s", type=float, help="instead of the presets' own")
    options = parser.parse_args()
    codes = [
        measure(trial, _plan(job.plan, options.budget_s), options.device, options.output / f"{name}-{number}")
        for name in options.presets
        for job in [request(name, device=options.device)]
        for number, trial in enumerate(job.trials)
    ]
    return max(codes)


def _plan(plan: Plan, budget_s: float | None) -> Plan:
    return plan if budget_s is None else msgspec.structs.replace(plan, budget_s=budget_s)


def measure(trial: TrialRequest, plan: Plan, device: str, directory: Path) -> int:
    """The child's exit code."""
    directory.mkdir(parents=True, exist_ok=True)
    print(f"\n== {directory.name}: {trial.workload.operation} {trial.workload.axes} {trial.workload.dtype} on {device}")
    reading, writing = os.pipe()
    spec = MeasureSpec(
        workload=trial.workload,
        variants=trial.variants,
        plan=plan,
        device=device,
        directory=str(directory.resolve()),
        events_fd=writing,
    )
    path = directory / "spec.json"
    path.write_bytes(msgspec.json.encode(spec))
    start = time.monotonic()
    child = subprocess.Popen(
        lifeline.command("module", "profiles.measure", str(path)),
        stdin=subprocess.PIPE,
        pass_fds=(writing,),
        env=lifeline.environment(),
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as lines, (directory / "events.jsonl").open("wb") as kept:
        for line in lines:
            kept.write(line)
            _print(msgspec.json.decode(line, type=Event))
    print(f"exit {child.wait()} after {time.monotonic() - start:.1f} s")
    return child.returncode


def _print(event: Event) -> None:
    if isinstance(event, Started):
        print(event.environment)
    if isinstance(event, Finished):
        run = event.run
        print(f"{run.variant}: {run.status}{f' ({run.failure.message})' if run.failure else ''}")
        if run.correctness:
            print(f"    error {run.correctness.relative_l2} (tolerance {run.correctness.tolerance})")
        for metric in run.metrics:
            spread = f" [{metric.low:,.6g} … {metric.high:,.6g}]" if metric.low is not None else ""
            count = f" of {len(metric.samples)}" if metric.samples else ""
            doubt = f"  DOUBT: {metric.doubt}" if metric.doubt else ""
            print(f"    {metric.name} {metric.value:,.6g} {metric.unit}{spread} {metric.statistic}{count}{doubt}")
        if run.receipt:
            print(f"    {run.receipt}")


if __name__ == "__main__":
    sys.exit(main())
