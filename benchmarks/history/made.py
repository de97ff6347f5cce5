"""Trials as a year of a team's work would leave them: the shipped samples, varied in all that lists filter and show.

Times, samples, kernels and records are those that an H200 gave, scaled; devices, versions, shapes, dates, failures and
the names of kernels differ from trial to trial. The same seed makes the same history.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from profiles import catalog
from profiles.bundle import read_bundle
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Conditions, Failure, FailureKind, KernelUse, Metric, Results, Run, RunStatus, Trial
from profiles.workload import Workload

SAMPLES = Path(__file__).parent.parent.parent / "samples"
SHARES = {"attention": 50, "residual_rms_norm": 20, "swiglu": 20, "decoder_prefill": 10}
DEVICES = (
    "NVIDIA H200",
    "NVIDIA H100 80GB HBM3",
    "NVIDIA A100-SXM4-80GB",
    "NVIDIA L40S",
    "NVIDIA GeForce RTX 4090",
    "AMD Instinct MI300X",
    "AMD EPYC 9654 96-Core Processor",
)
TORCHES = ("2.9.1", "2.10.0", "2.11.0")
SIZES = {
    "batch": (1, 2, 4, 8, 16),
    "seq_q": (512, 1024, 2048, 4096),
    "seq": (512, 1024, 2048),
    "rows": (1024, 4096, 8192),
}
ENDS = (RunStatus.SUCCEEDED,) * 90 + (RunStatus.FAILED,) * 4 + (RunStatus.REFUSED,) * 4 + (RunStatus.INCORRECT,) * 2
FAILURES = {
    RunStatus.FAILED: Failure(
        kind=FailureKind.OUT_OF_MEMORY, message="CUDA out of memory. Tried to allocate 64.00 GiB"
    ),
    RunStatus.REFUSED: Failure(kind=FailureKind.UNSUPPORTED, message="No available kernel. Aborting execution."),
    RunStatus.INCORRECT: Failure(kind=FailureKind.INCORRECT, message="relative L2 error 0.31; accepted is 0.01"),
}
SPAN = timedelta(days=365)
TILE = re.compile(r"\d+x\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A measured trial, and when and on what it was measured."""

    name: str
    plan: Plan
    environment: Environment
    trial: Trial

    @property
    def results(self) -> Results:
        return Results(preset=None, plan=self.plan, environment=self.environment, trials=(self.trial,), name=self.name)


def trials(runs: int, *, seed: int = 0) -> Iterator[Made]:
    """Until there are `runs` runs, oldest first, over the year before now."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    known = {trial.workload.operation: (one, trial) for one in _samples() for trial in one.trials}
    ends = datetime.now(UTC) - timedelta(hours=1)
    made = 0
    while made < runs:
        operation = chance.choices(list(SHARES), weights=list(SHARES.values()))[0]
        one, trial = known[operation]
        at = ends - SPAN * (1 - made / runs)
        version = chance.randrange(len(DEVICES) * len(TORCHES))
        varied = _varied(trial, chance, at=at, version=version)
        yield Made(
            name=_name(varied.workload, chance), plan=one.plan, environment=_environment(one, version), trial=varied
        )
        made += len(varied.runs)


def _samples() -> list[Results]:
    return [one for path in sorted(SAMPLES.glob("*.fusescope")) for one in read_bundle(path).results]


def _varied(trial: Trial, chance: random.Random, *, at: datetime, version: int) -> Trial:
    operation = catalog.operation(trial.workload.operation)
    named = [str(variant) for variant in catalog.variants(operation)]
    like = {run.variant: run for run in trial.runs}
    runs = []
    for place, variant in enumerate(named):
        sample, next_one = (trial.runs[at % len(trial.runs)] for at in (place, place + 1))
        sample = _with_more_kernels(like.get(variant, sample), next_one)
        runs.append(_run(sample, variant, chance, at=at, version=version))
    return Trial(workload=_workload(trial.workload, chance), runs=tuple(runs))


def _with_more_kernels(run: Run, other: Run) -> Run:
    """An attention of the samples launches one kernel or two, a block of a model about ten."""
    kernels = [
        msgspec.structs.replace(kernel, position=position)
        for position, kernel in enumerate(run.kernels + other.kernels)
    ]
    return msgspec.structs.replace(run, kernels=tuple(kernels))


def _workload(workload: Workload, chance: random.Random) -> Workload:
    for axis in SIZES.keys() & workload.axes.keys():
        workload = catalog.at(workload, axis, chance.choice(SIZES[axis]))
    return workload


def _run(like: Run, variant: str, chance: random.Random, *, at: datetime, version: int) -> Run:
    status = chance.choice(ENDS)
    conditions = Conditions(host=f"bench-{version % 5}", started_at=at.isoformat(), duration_s=12.5)
    if status is not RunStatus.SUCCEEDED:
        return Run(variant=variant, status=status, failure=FAILURES[status], conditions=conditions)
    factor = chance.uniform(0.5, 4.0)
    return msgspec.structs.replace(
        like,
        variant=variant,
        metrics=tuple(_metric(metric, factor) for metric in like.metrics),
        kernels=tuple(_kernel(kernel, factor, version) for kernel in like.kernels),
        conditions=conditions,
        trace=None,
    )


def _metric(metric: Metric, factor: float) -> Metric:
    if metric.unit != "ns":
        return metric
    low, high = (None if bound is None else bound * factor for bound in (metric.low, metric.high))
    samples = None if metric.samples is None else tuple(sample * factor for sample in metric.samples)
    return msgspec.structs.replace(metric, value=metric.value * factor, low=low, high=high, samples=samples)


def _kernel(kernel: KernelUse, factor: float, version: int) -> KernelUse:
    """Another device or version of torch has other kernels: other tiles, other numbers of generated ones."""
    times = {field: round(getattr(kernel, field) * factor) for field in ("total_ns", "min_ns", "max_ns")}
    return msgspec.structs.replace(kernel, name=renamed(kernel.name, version), **times)


def renamed(name: str, version: int) -> str:
    tile = f"{64 << version % 3}x{32 << version // 3}"
    return TILE.sub(tile, name, count=1) if TILE.search(name) else f"{name}_{version}"


def _environment(one: Results, version: int) -> Environment:
    name, torch = DEVICES[version % len(DEVICES)], TORCHES[version // len(DEVICES)]
    device = "cuda" if "EPYC" not in name else "cpu"
    return msgspec.structs.replace(one.environment, device=device, device_name=name, torch=torch)


def _name(workload: Workload, chance: random.Random) -> str:
    title = catalog.operation(workload.operation).title
    words: Sequence[str] = ("nightly", "after the upgrade", "for the review", "before the release", "again")
    return f"{title}, {chance.choice(words)} {chance.randrange(1000)}"
