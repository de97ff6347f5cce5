"""Every sample of every variant in the order in which it was taken: spread, drift and outliers at a glance (Plotly)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from profiles.comparison.entry import Entry
from profiles.comparison.figures import TimeUnit, time_unit
from profiles.comparison.speed import TITLES, By, time
from profiles.results import Metric

ROW_HEIGHT, MARGINS_HEIGHT = 46, 64


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours that Python must choose, since Plotly knows no theme's variables."""

    ink: str
    muted: str
    hairline: str


LIGHT = Ink(ink="#171A1F", muted="#626A75", hairline="#E2E5E9")
DARK = Ink(ink="#E6E9ED", muted="#98A1AD", hairline="#2A3038")


def samples_figure(entries: Sequence[Entry], *, by: By, base_key: str | None, dark: bool) -> go.Figure | None:
    """One row per variant: each sample's distance from its variant's own median, from the row's top down; None where
    no samples are kept."""
    sampled = [(e, m) for e in entries if (m := time(e, by)) is not None and m.samples]
    if not sampled:
        return None
    ink, unit = DARK if dark else LIGHT, time_unit(sampled[0][0].workload)
    figure = go.Figure()
    for row, (entry, metric) in enumerate(sampled):
        figure.add_trace(_points(row, entry, metric, unit, ink.ink if entry.key == base_key else ink.muted))
    names = [f"{entry.key}  {entry.variant}" for entry, _ in sampled]
    figure.update_layout(**_layout(names, f"{TITLES[by]}, distance from the variant's own median", ink))
    return figure


def _points(row: int, entry: Entry, metric: Metric, unit: TimeUnit, colour: str) -> go.Scatter:
    samples = metric.samples or ()
    last = max(1, len(samples) - 1)
    return go.Scatter(
        x=[100 * (sample / metric.value - 1) for sample in samples],
        y=[row - 0.3 + 0.6 * position / last for position in range(len(samples))],
        mode="markers",
        marker={"size": 5, "color": colour, "opacity": 0.55},
        text=[
            f"{unit.write(ns)} {unit.symbol}<br>sample {n} of {len(samples)}" for n, ns in enumerate(samples, start=1)
        ],
        hovertemplate=f"%{{x:+.2f}} %<br>%{{text}}<extra>{entry.key}</extra>",
    )


def _layout(names: Sequence[str], title: str, ink: Ink) -> dict[str, object]:
    return {
        "height": MARGINS_HEIGHT + ROW_HEIGHT * len(names),
        "margin": {"l": 0, "r": 8, "t": 4, "b": 0},
        "showlegend": False,
        "font": {"color": ink.muted, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {
            "title": {"text": title, "font": {"size": 12}},
            "gridcolor": ink.hairline,
            "zerolinecolor": ink.muted,
            "ticksuffix": " %",
            "automargin": True,
            "fixedrange": True,
        },
        "yaxis": {
            "tickvals": list(range(len(names))),
            "ticktext": list(names),
            "tickfont": {"family": "JetBrains Mono, monospace", "color": ink.ink},
            "range": [len(names) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
            "fixedrange": True,
        },
    }
