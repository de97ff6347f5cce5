"""What `fusescope trace FILE` prints for people: numbers in doubt are marked, and each doubt has its reason below."""

from __future__ import annotations

from app.commands.kernel_lines import kernel_lines
from app.commands.output import table
from profiles.comparison.figures import percent, prose_time
from profiles.recorded import Attribution, Idle
from profiles.results import Finding
from profiles.trace.printable import printable
from profiles.trace.ranks import ProcessGroup
from profiles.trace.summary import TraceSummary
from profiles.trace.wording import counted

NOT_KNOWN = "not known"
DOUBT = "?"
GROUPS = 3


def described(summary: TraceSummary) -> list[str]:
    over = ", all devices" if len(summary.devices) > 1 else ""
    facts = [
        ("kernels", "kernels", _count(summary.kernels)),
        ("copies", "memcpy", _count(summary.memcpy)),
        ("fills", "memset", _count(summary.memset)),
        ("launches", "launches", _count(summary.launches)),
        ("graph launches", "graph_launches", _count(summary.graph_launches)),
        ("kernels of graph launches", "kernels_from_graph_launches", _count(summary.kernels_from_graph_launches)),
        ("kernels with their launch", "linked_kernels", _count(summary.linked_kernels)),
        ("launched before the window", "launched_before_window", _count(summary.launched_before_window)),
        ("kernel names", "distinct_kernel_names", _count(summary.distinct_kernel_names)),
        ("kernel sum", "kernel_sum_ns", _time(summary.kernel_sum_ns)),
        (f"kernel busy{over}", "kernel_busy_ns", _time(summary.kernel_busy_ns)),
        (f"GPU busy{over}", "gpu_busy_ns", _time(summary.gpu_busy_ns)),
        ("GPU span", "gpu_span_ns", _time(summary.gpu_span_ns)),
    ]
    if summary.stream_overlap_ns:
        facts.append(("overlap on one stream", "stream_overlap_ns", prose_time(summary.stream_overlap_ns)))
    width = max(len(name) for name, _, _ in facts)
    lines = [f"{name:<{width}}  {value:>14}{_mark(summary, field)}" for name, field, value in facts]
    return [
        *lines,
        *_rank(summary),
        *_coverage(summary),
        *_devices(summary),
        *_idle(summary),
        *_steps(summary),
        *_kernels(summary),
        *_health(summary),
    ]


def _mark(summary: TraceSummary, *fields: str) -> str:
    return f" {DOUBT}" if set(fields) & set(summary.doubtful) else ""


def _rank(summary: TraceSummary) -> list[str]:
    rank = summary.rank
    if rank is None:
        return []
    world = "" if rank.world_size is None else f" of {rank.world_size:,}"
    more = len(rank.groups) - GROUPS
    groups = [*map(_group, rank.groups[:GROUPS]), counted(more, "more group") if more > 0 else None]
    told = [rank.backend, f"on {rank.host}" if rank.host else None, *groups]
    return ["", printable(", ".join([f"rank {rank.rank:,}{world}", *filter(None, told)]))]


def _group(group: ProcessGroup) -> str:
    size = "" if group.size is None else f" of {counted(group.size, 'rank')}"
    return f"group {group.name or NOT_KNOWN}{size}"


def _coverage(summary: TraceSummary) -> list[str]:
    """Only where something was not joined to its launch by a correlation."""
    coverage = summary.coverage
    kinds = (("kernels", coverage.kernels), ("copies", coverage.memcpy), ("fills", coverage.memset))
    partial = [(name, found) for name, found in kinds if found.coverage is not None and found.coverage < 1]
    return ["", *(f"{name}: {_attributed(found)}" for name, found in partial)] if partial else []


def _attributed(found: Attribution) -> str:
    parts = (
        (found.exact, "by their own launch"),
        (found.by_graph, "by a graph's launch"),
        (found.inferred, "launched before the window, by order"),
        (found.unknown, "without a launch"),
    )
    told = ", ".join(f"{number:,} {words}" for number, words in parts if number)
    return f"{percent(found.coverage or 0)} joined to launches in the file ({told})"


def _devices(summary: TraceSummary) -> list[str]:
    if not summary.devices:
        return []
    rows = [
        (
            str(device.index),
            printable(device.name or ""),
            _time(device.kernel_busy_ns) + _mark(summary, "kernel_busy_ns"),
            prose_time(device.gpu_busy_ns) + _mark(summary, "gpu_busy_ns"),
            _time(device.gpu_span_ns) + _mark(summary, "gpu_span_ns"),
            NOT_KNOWN if device.idle_ns is None else prose_time(device.idle_ns) + _mark(summary, "idle"),
        )
        for device in summary.devices
    ]
    titles = ("device", "name", "kernel busy", "GPU busy", "span", "idle")
    return ["", *table(titles, rows, right=(False, False, True, True, True, True))]


def _idle(summary: TraceSummary) -> list[str]:
    if not summary.idle:
        return []
    mark = _mark(summary, "idle")
    rows = [_gaps(idle, mark) for idle in summary.idle]
    return ["", *table(("idle because", "gaps", "in all", "longest"), rows, right=(False, True, True, True))]


def _gaps(idle: Idle, mark: str) -> tuple[str, ...]:
    return str(idle.cause), f"{idle.count:,}", prose_time(idle.total_ns) + mark, prose_time(idle.longest_ns)


def _steps(summary: TraceSummary) -> list[str]:
    if not summary.steps:
        return []
    mark = _mark(summary, "steps.kernels")
    steps = [(printable(step.name), _count(step.kernels) + mark) for step in summary.steps]
    return ["", *table(("step", "kernels"), steps, right=(False, True))]


def _kernels(summary: TraceSummary) -> list[str]:
    if not summary.kernel_table:
        return []
    return ["", *kernel_lines(summary.kernel_table, doubt=_mark(summary, "kernel_sum_ns"))]


def _health(summary: TraceSummary) -> list[str]:
    if not summary.health:
        return []
    legend = f"   ({DOUBT} marks numbers in doubt)" if summary.doubtful else ""
    return ["", f"trace health: {counted(len(summary.health), 'finding')}{legend}", *map(_finding, summary.health)]


def _finding(finding: Finding) -> str:
    doubtful = f"\n    makes doubtful: {', '.join(finding.doubtful)}" if finding.doubtful else ""
    return f"  {printable(finding.message)}{doubtful}"


def _count(number: int | None) -> str:
    return NOT_KNOWN if number is None else f"{number:,}"


def _time(duration_ns: int | None) -> str:
    return NOT_KNOWN if duration_ns is None else prose_time(duration_ns)
