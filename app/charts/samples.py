"""Every sample of every variant in the order in which it was taken, build by build: spread, drift, levels (Plotly)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import plotly.graph_objects as go

from profiles.comparison.entry import Entry
from profiles.comparison.figures import TimeUnit, time_unit
from profiles.comparison.speed import TITLES, By, time
from profiles.results import Metric

ROW_HEIGHT, ROW_HEIGHT_OF_BUILDS, MARGINS_HEIGHT = 46, 84, 64
GAP = 2
"""Between builds, in samples."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours that Python must choose, since Plotly knows no theme's variables."""

    ink: str
    muted: str
    second: str
    hairline: str


LIGHT = Ink(ink="#171A1F", muted="#626A75", second="#4451C4", hairline="#E2E5E9")
DARK = Ink(ink="#E6E9ED", muted="#98A1AD", second="#A3ADF7", hairline="#2A3038")


@dataclass(frozen=True, slots=True)
class Sample:
    """`build` counts the builds in their order of time; None where none are recorded. `place` is the sample's, from 0
    at the top of its row to 1, with a gap between builds."""

    ns: float
    build: int | None
    place: float


def has_samples(entries: Sequence[Entry], by: By) -> bool:
    return bool(_sampled(entries, by))


def samples_figure(entries: Sequence[Entry], *, by: By, base_key: str | None, dark: bool) -> go.Figure | None:
    """One row per variant: each sample's distance from its variant's own median, from the row's top down, neighbouring
    builds in two colours with a stroke at each build's median; None where no samples are kept."""
    sampled = _sampled(entries, by)
    if not sampled:
        return None
    ink, unit = DARK if dark else LIGHT, time_unit(sampled[0][0].workload)
    figure = go.Figure()
    for row, (entry, metric) in enumerate(sampled):
        samples = ordered(metric)
        colour = ink.ink if entry.key == base_key else ink.muted
        figure.add_trace(_points(row, entry.key, samples, metric.value, unit=unit, colours=(colour, ink.second)))
        if samples[0].build is not None:
            figure.add_trace(_medians(row, samples, metric.value, unit, ink.ink))
    names = [f"{entry.key}  {entry.variant}" for entry, _ in sampled]
    height = ROW_HEIGHT_OF_BUILDS if any(metric.builds for _, metric in sampled) else ROW_HEIGHT
    figure.update_layout(**_layout(names, f"{TITLES[by]}, distance from the variant's own median", ink, height))
    return figure


def ordered(metric: Metric) -> list[Sample]:
    """The samples by the time at which they were taken, or as they are listed where no times are kept."""
    samples, builds, times = metric.samples or (), metric.builds, metric.at_s
    order = list(range(len(samples)))
    if times is not None and len(times) == len(samples):
        order.sort(key=times.__getitem__)
    if builds is None or len(builds) != len(samples):
        last = max(1, len(samples) - 1)
        return [Sample(samples[index], None, place / last) for place, index in enumerate(order)]
    rank = {build: number for number, build in enumerate(dict.fromkeys(builds[index] for index in order))}
    last = max(1, len(samples) - 1 + GAP * (len(rank) - 1))
    return [
        Sample(samples[index], rank[builds[index]], (place + GAP * rank[builds[index]]) / last)
        for place, index in enumerate(order)
    ]


def _sampled(entries: Sequence[Entry], by: By) -> list[tuple[Entry, Metric]]:
    return [(e, m) for e in entries if (m := time(e, by)) is not None and m.samples]


def _points(
    row: int, key: str, samples: Sequence[Sample], median_ns: float, *, unit: TimeUnit, colours: tuple[str, str]
) -> go.Scatter:
    return go.Scatter(
        x=[100 * (sample.ns / median_ns - 1) for sample in samples],
        y=[_height(row, sample.place) for sample in samples],
        mode="markers",
        marker={"size": 5, "color": [colours[(sample.build or 0) % 2] for sample in samples], "opacity": 0.55},
        text=[_hover(sample, number, len(samples), unit) for number, sample in enumerate(samples, start=1)],
        hovertemplate=f"%{{x:+.2f}} %<br>%{{text}}<extra>{key}</extra>",
    )


def _medians(row: int, samples: Sequence[Sample], median_ns: float, unit: TimeUnit, colour: str) -> go.Scatter:
    groups = [list(group) for _, group in groupby(samples, key=lambda sample: sample.build)]
    medians = [statistics.median(sample.ns for sample in group) for group in groups]
    return go.Scatter(
        x=[100 * (ns / median_ns - 1) for ns in medians],
        y=[_height(row, statistics.fmean(sample.place for sample in group)) for group in groups],
        mode="markers",
        marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": colour}},
        text=[f"{unit.write(ns)} {unit.symbol}<br>median of build {n}" for n, ns in enumerate(medians, start=1)],
        hovertemplate="%{x:+.2f} %<br>%{text}<extra></extra>",
    )


def _height(row: int, place: float) -> float:
    return row - 0.35 + 0.7 * place


def _hover(sample: Sample, number: int, of: int, unit: TimeUnit) -> str:
    build = "" if sample.build is None else f"<br>build {sample.build + 1}"
    return f"{unit.write(sample.ns)} {unit.symbol}<br>sample {number} of {of}{build}"


def _layout(names: Sequence[str], title: str, ink: Ink, row_height: int) -> dict[str, object]:
    return {
        "height": MARGINS_HEIGHT + row_height * len(names),
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
