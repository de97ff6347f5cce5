"""What changed between two runs beside the time: throughput, launches of each kind, memory, the output."""

from __future__ import annotations

from profiles.comparison import figures
from profiles.comparison.entry import Entry
from profiles.comparison.parts import Part, text
from profiles.results import Counts

SAME_MEMORY = 0.01
LITTLE_MEMORY = 1 << 20


def changes(base: Entry, best: Entry) -> tuple[Part, ...]:
    """Clauses joined by commas, the output's after a semicolon; empty where nothing of it is recorded."""
    clauses = [clause for clause in (_tokens(base, best), _counts(base, best), _memory(base, best)) if clause]
    output = _output(best)
    words = ", ".join(clauses)
    return (text("; ".join(filter(None, [words, output]))),) if words or output else ()


def counted(counts: Counts) -> list[str]:
    """Each kind that is not zero, by name: `5 kernels`, `1 copy`, `2 fills`; on a CPU `6 operators`."""
    kinds = (
        (counts.kernels, "kernel"),
        (counts.operators, "operator"),
        (counts.memcpy, "copy"),
        (counts.memset, "fill"),
    )
    return [figures.count(number, noun) for number, noun in kinds if number]


def _tokens(base: Entry, best: Entry) -> str | None:
    before, after = _value(base, "tokens_per_s"), _value(best, "tokens_per_s")
    if before is None or after is None:
        return None
    return f"{figures.rate(after)} against {figures.rate(before)} tokens/s"


def _counts(base: Entry, best: Entry) -> str | None:
    before, after = _counted(base), _counted(best)
    if not before or not after:
        return None
    if before == after:
        return f"both launch {figures.listed(after)}" if "operator" not in after[0] else f"both run {after[0]}"
    return f"{figures.listed(before)} became {figures.listed(after)}"


def _counted(entry: Entry) -> list[str]:
    """Fills are left to the table: they weigh little and would lengthen every sentence."""
    counts = entry.run.counts if entry.run is not None else None
    return [] if counts is None else [kind for kind in counted(counts) if not _is_fill(kind)]


def _is_fill(kind: str) -> bool:
    return kind.endswith(("fill", "fills"))


def _memory(base: Entry, best: Entry) -> str | None:
    before, after = _value(base, "peak_memory"), _value(best, "peak_memory")
    if before is None or after is None or max(before, after) < LITTLE_MEMORY:
        return None
    if abs(after - before) <= SAME_MEMORY * max(before, after):
        return f"both take {figures.mib(after)} MiB of peak memory"
    if after > before:
        return f"peak memory grew from {figures.mib(before)} to {figures.mib(after)} MiB"
    return f"{figures.mib(before)} MiB of peak memory became {figures.mib(after)}"


def _output(best: Entry) -> str | None:
    correctness = best.run.correctness if best.run is not None else None
    if correctness is None or not correctness.passed:
        return None
    return f"the output is equal within {best.workload.dtype} tolerance"


def _value(entry: Entry, name: str) -> float | None:
    metric = entry.run.metric(name) if entry.run is not None else None
    return None if metric is None else metric.value
