"""Slices as CSV, written piece by piece: one line each, times in ns on the timeline's own clock.

The last column names the findings that put numbers of this trace in doubt; it is the same in every line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from app.comparison.spreadsheet import safe
from app.timeline.doubts import Doubt
from app.timeline.shown import Rows, Shown

AT_ONCE = 5_000
HEAD = (
    *("track", "kind", "device", "start_ns", "duration_ns", "name", "full_name", "role", "stages", "launch_start_ns"),
    *("operator", "module", "source", "cause_inferred", "doubts"),
)


def slices_csv(shown: Shown, rows: Rows, doubts: Sequence[Doubt] = ()) -> Iterator[str]:
    told = " ".join(doubt.code for doubt in doubts)
    yield _lines([HEAD])
    for first in range(0, len(rows), AT_ONCE):
        yield _lines([(*_line(shown, row), told) for row in rows[first : first + AT_ONCE].tolist()])


def _line(shown: Shown, row: int) -> tuple[str | float | int | None, ...]:
    drawn, track, name = shown.timeline, shown.tracks[shown.track[row]], int(shown.name[row])
    launch, cause = int(shown.launch[row]), drawn.causes[shown.cause[row]]
    return (
        safe(track.name),
        track.kind,
        track.device,
        int(shown.start_ns[row]),
        int(shown.duration_ns[row]),
        safe(drawn.short_names[name]),
        safe(drawn.names[name]),
        str(drawn.roles[name]),
        safe(" ".join(drawn.stage_sets[shown.stages[row]])) if drawn.stage_sets else "",
        int(shown.start_ns[launch]) if launch >= 0 else None,
        *(None if text is None else safe(text) for text in (cause.operator, cause.module, cause.source)),
        "yes" if cause.inferred else "",
    )


def _lines(lines: list[tuple[str | float | int | None, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
