"""A comparison as CSV: one line per variant, times in ns, what is not recorded left empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from profiles.comparison.document import document
from profiles.comparison.entry import EntryT
from profiles.comparison.figures import workload_label
from profiles.comparison.recording import count_doubt
from profiles.reports import ComparedVariant
from profiles.results import Metric, Run
from profiles.verdict import VariantComparison
from profiles.workload import Workload

METRICS = (
    *("gpu_time", "call_time", "first_call", "first_shape", "second_visit", "traced_device_time"),
    *("peak_memory", "tokens_per_s", "useful_tflops"),
)
COUNTS = ("kernels", "memcpy", "memset", "launches", "graph_launches", "operators")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
HEAD = (
    *("operation", "workload", "key", "variant", "state", "baseline"),
    *("speed_up", "verdict", "low", "high", "builds", "ran", "reason"),
    *COUNTS,
    *(f"{name}{part}" for name in METRICS for part in ("", "_low", "_high")),
    *("relative_l2", "max_abs", "passed", "device", "torch", "doubtful"),
)

Value = str | float | int | bool | None


def comparison_csv(entries: Sequence[EntryT], *, base_key: str | None, by: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for part in document(entries, base_key=base_key, by=by, source=lambda _: "").workloads:
        writer.writerows([safe(value) for value in _line(part.workload, row)] for row in part.rows)
    return text.getvalue()


def _line(workload: Workload, row: ComparedVariant) -> list[Value]:
    run, environment = row.run, row.environment
    names: list[Value] = [workload.operation, workload_label(workload), row.key, row.variant, row.state, row.baseline]
    where: list[Value] = [environment.device_name, environment.torch] if environment else [None, None]
    if run is None:
        return [*names, *[None] * (len(HEAD) - len(names) - len(where) - 1), *where, None]
    receipt, failure = run.receipt, run.failure
    told: list[Value] = [
        row.speed_up,
        *_verdict(row.comparison),
        receipt.ran if receipt else None,
        failure.message if failure else None,
    ]
    return [*names, *told, *_counts(run), *_metrics(run), *_output(run), *where, _doubtful(run)]


def _verdict(judged: VariantComparison | None) -> list[Value]:
    return [None] * 4 if judged is None else [judged.verdict, judged.low, judged.high, judged.builds]


def _counts(run: Run) -> list[Value]:
    return [getattr(run.counts, name, None) for name in COUNTS]


def _metrics(run: Run) -> list[Value]:
    found: list[Metric | None] = [run.metric(name) for name in METRICS]
    return [value for metric in found for value in ((metric.value, metric.low, metric.high) if metric else [None] * 3)]


def _doubtful(run: Run) -> str | None:
    """The line's numbers that are in doubt, by the names of their columns."""
    counts = [name for name in COUNTS if count_doubt(run, name)]
    metrics = [name for name in METRICS if (metric := run.metric(name)) is not None and metric.doubt]
    return "; ".join((*counts, *metrics)) or None


def _output(run: Run) -> list[Value]:
    found = run.correctness
    return [found.relative_l2, found.max_abs, found.passed] if found else [None, None, None]


def safe(value: Value) -> Value:
    """A spreadsheet runs text that begins like a formula; names and reasons come from files."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
