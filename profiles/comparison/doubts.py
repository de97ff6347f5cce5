"""Doubts that all runs share: the reason lies in how was measured, so that it is told once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from profiles.comparison.entry import Entry
from profiles.results import Metric

LEAST = 2


def shared_doubts(entries: Iterable[Entry]) -> Mapping[str, str]:
    """By a metric's name the reason for doubt that all runs with that metric have; two or more must have it."""
    found: dict[str, list[str | None]] = {}
    for metric in _metrics(entries):
        found.setdefault(metric.name, []).append(metric.doubt)
    alike = {name: reasons for name, reasons in found.items() if len(reasons) >= LEAST and len(set(reasons)) == 1}
    return {name: reasons[0] for name, reasons in alike.items() if reasons[0] is not None}


def single_doubts(entries: Iterable[Entry]) -> int:
    """How many numbers are in doubt for a reason that not all share."""
    known = list(entries)
    shared = shared_doubts(known)
    return sum(metric.doubt is not None and metric.name not in shared for metric in _metrics(known))


def shared_notes(notes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What stands in every one of two or more lists, in the order of the first."""
    if len(notes) < LEAST:
        return ()
    return tuple(note for note in notes[0] if all(note in others for others in notes))


def _metrics(entries: Iterable[Entry]) -> list[Metric]:
    return [metric for entry in entries if entry.run is not None for metric in entry.run.metrics]
