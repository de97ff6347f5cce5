"""The view of a timeline as the address has it (`canvas/link.js` writes it), as far as the server needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.timeline.shown import Part, Shown

SPAN = re.compile(r"(-?\d{1,15}(?:\.\d{1,9})?)~(-?\d{1,15}(?:\.\d{1,9})?)")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class View:
    """`zoom` and the selected `range` in ns from where the lanes begin; None is all, and nothing selected."""

    part: Part = Part.TYPICAL
    zoom: Span | None = None
    range: Span | None = None


def read_view(text: str | None) -> View:
    """What cannot be read is passed over: the address is anyone's."""
    zoom, *parts = (text or "").partition(";q=")[0].split(";")
    told = dict(part.partition("=")[::2] for part in parts)
    return View(
        part=Part.ALL if told.get("a") == "start" else Part.TYPICAL,
        zoom=_span(zoom),
        range=_span(told.get("r", "")),
    )


def span_of(view: View, shown: Shown) -> Span:
    """What is selected, else what is in view, else the extent of the work: on the timeline's own clock."""
    chosen = view.range or view.zoom
    if chosen is None:
        return shown.ends_ns[0], max(shown.ends_ns[1], shown.ends_ns[0] + 1)
    return chosen[0] + shown.zero_ns, chosen[1] + shown.zero_ns


def _span(text: str) -> Span | None:
    found = SPAN.fullmatch(text)
    if found is None:
        return None
    first, last = (round(float(us) * 1000) for us in found.groups())
    return (first, last) if last > first else None
