"""Why a run has no number: sentences for failed and incorrect variants, and what may help."""

from __future__ import annotations

from profiles.comparison import figures
from profiles.comparison.entry import Entry
from profiles.comparison.parts import Part, mono, text
from profiles.results import Correctness, Failure, FailureKind

SAID = {
    FailureKind.UNSUPPORTED: "is not supported here",
    FailureKind.INCORRECT: "is incorrect",
    FailureKind.OUT_OF_MEMORY: "ran out of memory",
    FailureKind.CRASHED: "crashed",
    FailureKind.TIMEOUT: "took longer than its limit",
    FailureKind.WORKER_LOST: "lost its worker",
    FailureKind.TRACE_LOST: "was measured, but its trace is incomplete",
    FailureKind.INTERNAL: "failed",
}

ADVICE = {
    FailureKind.OUT_OF_MEMORY: "Try without it, with a smaller batch or a shorter sequence.",
    FailureKind.CRASHED: "The raw line is in the table. Retry, or leave it out.",
    FailureKind.TIMEOUT: "Try a smaller workload or a longer budget.",
    FailureKind.WORKER_LOST: "Look at Workers, then retry.",
    FailureKind.TRACE_LOST: "Retry: a fresh process usually records it.",
}


def failed_sentence(entry: Entry) -> tuple[Part, ...]:
    """`naive` ran out of memory."""
    failure = entry.run.failure if entry.run is not None else None
    said = SAID[failure.kind] if failure is not None else "failed"
    return (mono(entry.variant), text(f" {said}."))


def incorrect_sentence(entry: Entry) -> tuple[Part, ...]:
    """`custom_norm` is incorrect: NaN in 12 of 8,192 rows. It has no speed-up."""
    correctness = entry.run.correctness if entry.run is not None else None
    why = _why_incorrect(correctness) if correctness is not None else None
    return (mono(entry.variant), text(f" is incorrect{f': {why}' if why else ''}. It has no speed-up."))


def varying_sentence(correctness: Correctness) -> str | None:
    """Of outputs that are right and not equal; None where equal calls gave equal bits, or nobody looked."""
    if correctness.deterministic is not False or not correctness.passed:
        return None
    return f"not deterministic: {correctness.repeats} equal calls did not give equal bits, all within tolerance"


def _why_incorrect(correctness: Correctness) -> str | None:
    """What the check said; results from before it gave reasons have figures alone."""
    if correctness.reason:
        return correctness.reason
    if correctness.nonfinite:
        values = figures.count(correctness.nonfinite, "value")
        return f"{values} of its output {'is' if correctness.nonfinite == 1 else 'are'} NaN or infinite"
    if correctness.relative_l2 is not None:
        return f"relative error {correctness.relative_l2:.1e}, tolerance {correctness.tolerance:.1e}"
    return None


def advice(failure: Failure | None) -> str | None:
    return None if failure is None else ADVICE.get(failure.kind)
