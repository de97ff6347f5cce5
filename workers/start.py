"""Runs a worker, of one device or of traces alone: a Celery parent with one pool process, and the reaper beside it."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.worker import state as celery_state

from db.settings import Settings
from profiles.devices import find_device
from profiles.supervisor import MEASURE, Limits
from workers.attempt import Bench, attempt_trial
from workers.broker import broker_url
from workers.celery_app import MEASURE_TRIAL, READ_TRACE, TRACES_QUEUE, make_app, queues_of
from workers.pace import Pace
from workers.reading import read_import
from workers.reaper import Reaper

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class WorkerError(ValueError):
    """A worker that cannot be started here."""


def run_worker(
    settings: Settings,
    device: str,
    *,
    pace: Pace = Pace(),  # noqa: B008 - frozen
    limits: Limits | None = None,
    program: tuple[str, ...] = MEASURE,
) -> int:
    """Work for `device` (`cpu`, `cuda:N`) until SIGTERM or Ctrl-C; the exit status.

    A stop ends the trial that is being measured and gives it back to the queue. DeviceError or WorkerError where this
    machine has no such device, no torch, or such a worker already.
    """
    capabilities = find_device(device)
    if capabilities.torch is None:
        raise WorkerError("torch is not installed, and nothing can be measured without it; `make install` adds it")
    name = f"{capabilities.device}@{socket.gethostname()}"
    bench = Bench(
        settings=settings,
        worker=name,
        device=capabilities.device,
        pace=pace,
        limits=limits or Limits(),
        program=program,
    )
    reaper = Reaper(settings, worker=name, capabilities=capabilities, pace=pace)
    app = make_app(broker_url(settings))

    @app.task(name=MEASURE_TRIAL)  # type: ignore[untyped-decorator]
    def measure_trial(trial_id: int) -> None:
        attempt_trial(bench, trial_id)

    with _only_one(settings.state, capabilities.device):
        return _work(app, settings, reaper, name=name, queues=queues_of(capabilities.device), pace=pace)


def run_trace_worker(settings: Settings, *, pace: Pace = Pace()) -> int:  # noqa: B008 - frozen
    """Read imported traces and measure nothing, until SIGTERM or Ctrl-C; the exit status. It needs no torch, and
    several may run on one machine."""
    name = f"traces-{os.getpid()}@{socket.gethostname()}"
    settings.state.mkdir(parents=True, exist_ok=True)
    reaper = Reaper(settings, worker=name, capabilities=None, pace=pace)
    return _work(make_app(broker_url(settings)), settings, reaper, name=name, queues=(TRACES_QUEUE,), pace=pace)


def _work(app: Celery, settings: Settings, reaper: Reaper, *, name: str, queues: tuple[str, ...], pace: Pace) -> int:
    """Every worker reads traces, whatever else its queues hold."""

    @app.task(name=READ_TRACE)  # type: ignore[untyped-decorator]
    def read_trace(import_id: int) -> None:
        read_import(settings, import_id, worker=name, pace=pace)

    # Celery holds receivers weakly: these live as long as the call.
    def configure_logging(**_: Any) -> None:
        logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)

    def stop_attempt(**_: Any) -> None:
        _stop_attempt(worker)

    signals.setup_logging.connect(configure_logging)
    signals.worker_shutting_down.connect(stop_attempt)
    worker = app.Worker(
        hostname=name,
        queues=list(queues),
        concurrency=1,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    reaper.start()
    try:
        worker.start()
    finally:
        reaper.stop()
    return int(worker.exitcode or 0)


def _stop_attempt(worker: Any) -> None:
    """Tell the pool process, if it measures or reads: Celery would wait for the end of it."""
    if celery_state.active_requests and worker.pool is not None:
        for process in worker.pool._pool._pool:  # billiard has no public list of its processes
            os.kill(process.pid, signal.SIGTERM)


@contextmanager
def _only_one(state: Path, device: str) -> Iterator[None]:
    """Two workers on one device would disturb each other's measurements."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / f"worker-{device.replace(':', '-')}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkerError(f"a worker for {device} runs here already, with the state directory {state}") from None
        yield
