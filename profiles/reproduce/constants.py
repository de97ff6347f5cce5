"""The constants at the top of a script: the workload as plain values, what passes, and what was measured."""

from __future__ import annotations

import re

from profiles.comparison.entry import Entry
from profiles.comparison.speed import By
from profiles.reproduce.literals import assignment, said
from profiles.results import Run


def constants(entry: Entry, run: Run, body: str) -> str:
    """Those of the workload that the code reads, and what was measured."""
    workload = entry.workload
    values: dict[str, object] = {
        "AXES": workload.axes,
        "DTYPE": workload.dtype,
        "DISTRIBUTION": workload.distribution,
        "SEED": workload.seed,
    }
    lines = [assignment(name, value) for name, value in values.items() if re.search(rf"\b{name}\b", body)]
    if (error := allowed(entry)) is not None:
        lines.append(f"{assignment('ALLOWED', error)}  # relative L2 error that passes")
    if (row_error := row_allowed(entry)) is not None:
        lines.append(f"{assignment('ROW_ALLOWED', row_error)}  # of its worst row")
    if (ns := window_ns(run)) is not None:
        lines.append(
            f"{assignment('WINDOW_NS', ns)}  # of the two events themselves, as calibrated where it was measured"
        )
    metrics = {by: run.metric(by) for by in By}
    measured = {str(by): (found.value, found.low, found.high) for by, found in metrics.items() if found is not None}
    device = "an unknown device" if entry.environment is None else said(entry.environment.device_name)
    lines += [
        assignment("MEASURED_ON", device),
        "# ns: median, lower and upper end of its interval",
        assignment("MEASURED", measured),
    ]
    return "\n".join(lines)


def window_ns(run: Run) -> float | None:
    return None if run.conditions is None else run.conditions.window_ns


def allowed(entry: Entry) -> float | None:
    found = entry.run.correctness if entry.run is not None else None
    return None if found is None else found.tolerance


def row_allowed(entry: Entry) -> float | None:
    """None where no row was wrong."""
    found = entry.run.correctness if entry.run is not None else None
    return found.row_allowed if found is not None and found.rows_wrong else None
