"""Adds what the trace tells to a finished run: counts, kernels, health, the traced device time.

Traces are parsed in a memory-limited child of their own, one at a time, beside the measuring; a run without a trace
needs none.
"""

from __future__ import annotations

import hashlib
import statistics
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from profiles.protocol import Finished
from profiles.results import Failure, FailureKind, Finding, Metric, Run, RunStatus
from profiles.supervisor.artefacts import keep_artefacts
from profiles.supervisor.limits import Limits
from profiles.supervisor.processes import end_own_children
from profiles.supervisor.receipts import confirm, confirm_dispatch
from profiles.trace.child import ParsedTrace, parse_in_child
from profiles.trace.contents import TraceContents
from profiles.trace.errors import TraceError, TraceTooLarge
from profiles.trace.forward import ForwardSummary
from profiles.trace.summary import TraceSummary

LOST = ("gpu_records_missing", "launches_without_slices", "no_gpu_activity", "no_steps")
FAR = 0.25
"""Share of `gpu_time` from which on the traced device time is in doubt."""
TRACED_FAR = 2.0
"""How many times the timed passes the traced ones of a CPU may take, or they it, before their times explain nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """A complete run, with its trace's files where it has any, and its text files by SHA-256; they lie in the trial's
    directory."""

    run: Run
    trace_path: Path | None = None
    timeline_path: Path | None = None
    summary: TraceSummary | None = None
    contents: TraceContents | None = None
    artefact_paths: dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """`lost` says why the trace is of no use where capturing it again, in a fresh process, may help."""

    measured: MeasuredRun
    lost: str | None = None


class Completions:
    """The runs whose traces are being parsed. Results are taken on the caller's thread."""

    def __init__(self, *, device: str, directory: Path, limits: Limits) -> None:
        self._device, self._directory, self._limits = device, directory, limits
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="trace")
        self._pending: list[Future[Completion]] = []

    def add(self, finished: Finished) -> None:
        self._pending.append(self._pool.submit(self._complete, finished))

    def done(self, timeout_s: float = 0.0) -> list[Completion]:
        """Those that are complete; waits for the first of them when a timeout is given. In the order of `add`."""
        if timeout_s and self._pending:
            wait(self._pending, timeout=timeout_s, return_when=FIRST_COMPLETED)
        done = [future for future in self._pending if future.done()]
        self._pending = [future for future in self._pending if future not in done]
        return [future.result() for future in done]

    @property
    def pending(self) -> bool:
        return bool(self._pending)

    def close(self) -> None:
        """What is still being parsed is dropped, and its parser ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._pending:
            end_own_children(naming=str(self._directory))

    def _complete(self, finished: Finished) -> Completion:
        run, artefacts = keep_artefacts(finished.run, self._directory)
        completion = self._with_trace(msgspec.structs.replace(finished, run=run))
        return replace(completion, measured=replace(completion.measured, artefact_paths=artefacts))

    def _with_trace(self, finished: Finished) -> Completion:
        if finished.trace_file is None:
            return Completion(measured=MeasuredRun(run=finished.run))
        path = self._directory / Path(finished.trace_file).name
        try:
            parsed = self._parse(path)
        except TraceTooLarge as error:
            return Completion(measured=MeasuredRun(run=trace_lost(finished.run, str(error))))
        except TraceError as error:
            return Completion(measured=MeasuredRun(run=finished.run), lost=str(error))
        except OSError as error:
            return Completion(measured=MeasuredRun(run=finished.run), lost=f"the trace cannot be read: {error}")
        if parsed.forward is None:
            return Completion(measured=MeasuredRun(run=finished.run), lost="the trace has no forward pass")
        return _completed(finished.run, parsed, parsed.forward, path=path, device=self._device)

    def _parse(self, path: Path) -> ParsedTrace:
        directory = self._directory / f"parsed-{path.name.removesuffix('.json.gz')}"
        directory.mkdir(exist_ok=True)
        return parse_in_child(
            path,
            device=self._device,
            directory=directory,
            memory_limit=self._limits.trace_memory_bytes,
            timeout_s=self._limits.trace_time_s,
        )


def trace_lost(run: Run, reason: str) -> Run:
    """The run without a usable trace: its measured times stay, its status says that it is not whole."""
    failure = Failure(kind=FailureKind.TRACE_LOST, message=reason)
    return msgspec.structs.replace(run, status=RunStatus.FAILED, failure=failure)


def _completed(run: Run, parsed: ParsedTrace, forward: ForwardSummary, *, path: Path, device: str) -> Completion:
    traced = traced_device_time(forward, gpu_time=run.metric("gpu_time")) if device != "cpu" else None
    with path.open("rb") as raw:
        digest = hashlib.file_digest(raw, "sha256").hexdigest()
    complete = msgspec.structs.replace(
        run,
        counts=forward.counts,
        kernels=forward.kernels,
        receipt=run.receipt and confirm(run.receipt, forward.kernels),
        dispatch=confirm_dispatch(
            run.dispatch, compilation=run.compilation, kernels=forward.kernels, counts=forward.counts
        ),
        trace_health=(*run.trace_health, *forward.findings, *far_from_timed(run, forward, device=device)),
        metrics=run.metrics if traced is None else (*run.metrics, traced),
        trace=digest,
        recorded=forward.recorded,
        causes=forward.causes,
    )
    measured = MeasuredRun(
        run=complete,
        trace_path=path,
        timeline_path=parsed.timeline_path,
        summary=parsed.summary,
        contents=parsed.contents,
    )
    return Completion(measured=measured, lost=_why_lost(forward, device=device))


def _why_lost(forward: ForwardSummary, *, device: str) -> str | None:
    """Why there is no count, where that is the recording's fault; not every recording can be counted."""
    counted = forward.counts.operators if device == "cpu" else forward.counts.kernels
    if counted is not None:
        return None
    return next((finding.message for finding in forward.findings if finding.code in LOST), None)


def far_from_timed(run: Run, forward: ForwardSummary, *, device: str) -> tuple[Finding, ...]:
    """On a busy CPU the few traced passes can be far from the many timed ones: then their times explain nothing."""
    timed = run.metric("call_time")
    traced_ns = sum(use.total_ns for use in forward.kernels)
    if device != "cpu" or timed is None or not traced_ns or 1 / TRACED_FAR <= traced_ns / timed.value <= TRACED_FAR:
        return ()
    ratio = traced_ns / timed.value
    times = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
    message = f"the traced pass took {times} times the timed one; another load on the processor may be why"
    return (Finding(code="traced_time_far", message=message, count=1, doubtful=("times by operator and role",)),)


def traced_device_time(forward: ForwardSummary, *, gpu_time: Metric | None) -> Metric | None:
    """The kernel sum of the traced steps; in doubt where it is far from the time without a profiler.

    A handful of steps under the profiler are no samples of a time: their least and greatest stand beside the median.
    """
    steps = [float(ns) for ns in forward.device_time_ns]
    if not steps:
        return None
    median = statistics.median(steps)
    return Metric(
        name="traced_device_time",
        unit="ns",
        statistic="median",
        value=median,
        low=min(steps),
        high=max(steps),
        interval="min-max",
        doubt=_distance(median, gpu_time) or _found_doubtful(forward),
    )


def _found_doubtful(forward: ForwardSummary) -> str | None:
    found = [finding.message for finding in forward.findings if "traced_device_time" in finding.doubtful]
    return "; ".join(found) or None


def _distance(traced_ns: float, gpu_time: Metric | None) -> str | None:
    if gpu_time is None or gpu_time.value <= 0:
        return None
    away = traced_ns / gpu_time.value - 1
    return None if abs(away) <= FAR else f"{away:+.0%} away from gpu_time, which is measured without the profiler"
