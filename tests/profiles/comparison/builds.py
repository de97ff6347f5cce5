"""Runs with builds, as a measurement leaves them: samples by build with their times, and what the device did."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from profiles.plan import Order, Plan
from profiles.results import Block, Metric, Results, Run, RunStatus, Trial
from profiles.workload import Workload
from tests.profiles.comparison.ladder import H200, WORKLOAD

BETWEEN_SAMPLES_S = 0.1


def sampled(name: str, log_samples: NDArray[np.float64], *, ns: float = 100_000.0) -> Metric:
    """A time of about `ns`; `log_samples` [builds, samples] are its deviations, as logarithms."""
    number, each = log_samples.shape
    samples = tuple(float(ns * np.exp(value)) for value in log_samples.ravel())
    low, median, high = np.percentile(samples, (25, 50, 75))
    return Metric(
        name=name,
        unit="ns",
        statistic="median",
        value=float(median),
        low=float(low),
        high=float(high),
        interval="p25-p75",
        samples=samples,
        builds=tuple(index // each for index in range(number * each)),
        at_s=tuple(index * BETWEEN_SAMPLES_S for index in range(number * each)),
    )


def quiet(builds: int = 10, *, ratio: float = 1.0, seed: int = 0, noise: float = 0.001) -> NDArray[np.float64]:
    """Deviations of a steady run that takes `ratio` times as long: noise of 0.1 % per sample and per build."""
    generator = np.random.default_rng(seed)
    own = generator.normal(0, noise, (builds, 1)) + generator.normal(0, noise, (builds, 5))
    return own + np.log(ratio)


def run(variant: str, *metrics: Metric, twin: tuple[Metric, ...] = (), blocks: tuple[Block, ...] = ()) -> Run:
    return Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=metrics, twin=twin, blocks=blocks)


def timed(variant: str, ratio: float = 1.0, *, builds: int = 10, seed: int | None = None, noise: float = 0.001) -> Run:
    """A steady run with a GPU time of 100 µs × `ratio`; variants are independent unless they share a seed."""
    own = sum(map(ord, variant)) if seed is None else seed
    return run(variant, sampled("gpu_time", quiet(builds, ratio=ratio, seed=own, noise=noise)))


def results(*trials: tuple[Run, ...], plan: Plan | None = None, workload: Workload = WORKLOAD) -> Results:
    made = tuple(Trial(workload=workload, runs=runs) for runs in trials)
    return Results(preset=None, plan=plan or Plan(), environment=H200, trials=made)


def isolated() -> Plan:
    return Plan(order=Order.ISOLATED)


def without_builds(measured: Run) -> Run:
    bare = tuple(msgspec.structs.replace(metric, builds=None, at_s=None) for metric in measured.metrics)
    return msgspec.structs.replace(measured, metrics=bare)


def doubted(run: Run, name: str, why: str) -> Run:
    """The run with a reason for doubt at one of its metrics."""
    metrics = (msgspec.structs.replace(m, doubt=why) if m.name == name else m for m in run.metrics)
    return msgspec.structs.replace(run, metrics=tuple(metrics))
