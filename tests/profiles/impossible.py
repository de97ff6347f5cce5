"""Stands in for the measuring program on an H200 whose clock is broken: `python -m tests.profiles.impossible SPEC`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from profiles.ceilings import Costs
from profiles.environment import Environment
from profiles.protocol import Event, Finished, MeasureSpec, Started
from profiles.results import Metric, Run, RunStatus

H200 = Environment(device="cuda", device_name="NVIDIA H200", torch="2.11.0", python="3.12", platform="test")
TIMES_NS = {"naive": 1_000.0, "sdpa_math": 1_000_000.0}  # of 1 GB, which the H200's memory takes 209 µs to move


def main(path: str) -> None:
    spec = msgspec.json.decode(Path(path).read_bytes(), type=MeasureSpec)
    _send(spec, Started(environment=H200))
    for variant in spec.variants:
        time = Metric(name="gpu_time", unit="ns", statistic="median", value=TIMES_NS[variant])
        run = Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(time,), costs=Costs(least_bytes=10**9))
        _send(spec, Finished(run=run))


def _send(spec: MeasureSpec, event: Event) -> None:
    os.write(spec.events_fd, msgspec.json.encode(event) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
