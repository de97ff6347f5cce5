"""The sentence that answers for one trace by itself: what it launches, what that takes, and why the GPU was idle."""

from __future__ import annotations

from profiles.comparison.answer import Answer
from profiles.comparison.caveat import Caveat
from profiles.comparison.figures import count, percent, prose_time
from profiles.comparison.parts import Part, muted, strong, text
from profiles.comparison.traces.entry import ComparedTrace
from profiles.recorded import GapCause
from profiles.results import Finding
from profiles.trace.summary import TraceSummary

BECAUSE = {
    GapCause.NOT_KNOWN: "for causes that the file does not tell",
    GapCause.BETWEEN_STEPS: "between steps",
    GapCause.SYNCHRONISATION: "because the host waited for it",
    GapCause.HOST_LATE: "because the host was late",
    GapCause.DEPENDENCY: "because it waited for another stream",
    GapCause.UNEXPLAINED: "for no recorded reason",
    GapCause.BETWEEN_SLICES: "between one kernel and the next",
}
STEPS, WHOLE = "steps.kernels", "kernels"
UNSTABLE = "unstable_counts"
LOST = ("gpu_records_missing", "no_gpu_records")


def alone(trace: ComparedTrace) -> Answer:
    summary = trace.summary
    lost = next((finding for finding in summary.health if finding.code in LOST), None)
    if lost is not None:
        return Answer((text(f"{_sentence(lost.message)} No kernel count or GPU time can be told."),))
    if not summary.kernels:
        return Answer((text("No GPU kernel is recorded in this file."),))
    return Answer((*_kernels(trace), *_idle(summary), text(".")))


def alone_caveat(trace: ComparedTrace) -> Caveat | None:
    """The finding that makes most of what the sentence says doubtful; None where it says that itself, or nothing is."""
    summary = trace.summary
    said = {STEPS if _per_step(summary) else WHOLE, "kernel_sum_ns", "idle"}
    if _per_step(summary):
        said.remove("kernel_sum_ns")
    found = [finding for finding in _findings(summary) if said & set(finding.doubtful) and finding.code not in LOST]
    if not found:
        return None
    worst = max(found, key=lambda finding: len(said & set(finding.doubtful)))
    return Caveat("In doubt", (text(_sentence(worst.message)),))


def idle_share(summary: TraceSummary) -> float | None:
    """Of the devices' spans, each by itself, then added; None where no device has any."""
    spans = [(d.idle_ns, d.gpu_span_ns) for d in summary.devices if d.idle_ns is not None and d.gpu_span_ns]
    return sum(idle for idle, _ in spans) / sum(span for _, span in spans) if spans else None


def _kernels(trace: ComparedTrace) -> tuple[Part, ...]:
    summary = trace.summary
    told = _per_step(summary)
    if not told:
        over = f" on {count(len(summary.devices), 'GPU')}" if len(summary.devices) > 1 else ""
        time = f", {prose_time(summary.kernel_sum_ns)} of kernel time" if summary.kernel_sum_ns is not None else ""
        return strong(count(summary.kernels or 0, "kernel")), *_doubted(summary, WHOLE), text(f"{over}{time}")
    number = count(told[0], "kernel") if min(told) == max(told) else f"{min(told):,}–{max(told):,} kernels"
    steps = "in 1 step" if len(told) == 1 else f"per step in {len(told):,} steps"
    times = _step_times(trace)
    each = " each" if len(times) > 1 else ""
    spent = f", {_from_to(min(times), max(times))} of kernel time{each}" if times else ""
    return strong(f"{number} {steps}"), *_doubted(summary, STEPS), text(spent)


def _per_step(summary: TraceSummary) -> list[int]:
    """A step that launched nothing (a mark after the last step) is passed over, unless all are like that."""
    told = [step.kernels for step in summary.steps if step.kernels is not None]
    return [kernels for kernels in told if kernels] or told


def _findings(summary: TraceSummary) -> list[Finding]:
    """Those that bear on what is said: steps that differ only from one that is passed over are none."""
    steady = len(set(_per_step(summary))) < 2
    return [finding for finding in summary.health if not (steady and finding.code == UNSTABLE)]


def _step_times(trace: ComparedTrace) -> list[int]:
    """Of the steps that launched something."""
    steps = trace.contents.steps if trace.contents is not None else ()
    return [step.work.kernel_ns for step in steps if step.work.kernel_ns]


def _from_to(low_ns: int, high_ns: int) -> str:
    """`63.0–74.1 ms`."""
    (low, unit), (high, high_unit) = prose_time(low_ns).split(" "), prose_time(high_ns).split(" ")
    if unit != high_unit:
        return f"{low} {unit} to {high} {high_unit}"
    return f"{low} {unit}" if low == high else f"{low}–{high} {unit}"


def _idle(summary: TraceSummary) -> tuple[Part, ...]:
    share = idle_share(summary)
    if share is None or not summary.idle:
        return ()
    whole = sum(idle.total_ns for idle in summary.idle)
    first = summary.idle[0]
    mostly = "mostly" if first.total_ns * 2 > whole else "above all"
    gpus = "the GPU was" if len(summary.devices) < 2 else "the GPUs were"
    return (
        text(f"; {gpus} idle "),
        strong(percent(share)),
        *_doubted(summary, "idle"),
        text(f" of the time, {mostly} {BECAUSE[first.cause]}"),
    )


def _doubted(summary: TraceSummary, field: str) -> tuple[Part, ...]:
    doubted = any(field in finding.doubtful for finding in _findings(summary))
    return (muted(" (in doubt)"),) if doubted else ()


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."
