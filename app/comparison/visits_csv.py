"""A comparison's walks as CSV: one line per visited value, times in ns."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from app.comparison.spreadsheet import safe
from profiles.comparison.entry import Entry
from profiles.comparison.figures import workload_label

HEAD = ("operation", "workload", "key", "variant", "axis", "value", "first_ns", "second_ns")


def visits_csv(entries: Sequence[Entry]) -> str:
    """In the order of the entries and of the walks; the head alone where nothing was walked."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for entry in entries:
        walked = entry.run.visits if entry.run is not None else None
        if walked is not None:
            who = (entry.workload.operation, workload_label(entry.workload), entry.key, entry.variant, walked.axis)
            writer.writerows([*map(safe, who), visit.value, visit.first_ns, visit.second_ns] for visit in walked.visits)
    return text.getvalue()
