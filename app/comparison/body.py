"""A comparison's sections, one per workload: answer, caveat, table, ledger, bars, timelines, kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from app.charts.answer import answer_html
from app.charts.bars import bars_html
from app.charts.compilation import compilations_html
from app.charts.ledger import ledger_html
from app.charts.limits import limits_html
from app.charts.receipt import receipts_html
from app.charts.reproduce import reproduce_html
from app.charts.table import table_html
from app.charts.visits import visits_html
from app.comparison.address import follow
from app.comparison.artefacts import artefact_url
from app.comparison.choice import Choice
from app.comparison.overview import overview_html
from app.comparison.panels import ComparedRow, kernel_panel, samples_panel, timeline_panel
from app.comparison.reproduce import script_url
from app.markup import mono, muted, page
from db.views import ComparedRun, ComparisonView
from profiles.comparison.answer import answer
from profiles.comparison.caveat import caveat
from profiles.comparison.entry import sections
from profiles.comparison.figures import workload_label
from profiles.comparison.judgement import Judged, judge
from profiles.comparison.ledger import ledger
from profiles.comparison.speed import By, chosen
from profiles.comparison.table import rows

AT_ONCE = 3
WORKLOAD = "w"


class Files(NamedTuple):
    """Addresses of the files of a run: its script by the entry's key, its text files by key and SHA-256."""

    script: Callable[[str], str]
    code: Callable[[str, str], str]


def body(view: ComparisonView, choose: Callable[[], Choice], *, token: str | None = None) -> None:
    """`choose` draws the toolbar where it belongs: under the answer of the only section, else above all."""
    grouped = sections(view.entries)
    files = Files(partial(script_url, view.id, token=token), partial(artefact_url, view.id, token=token))
    if len(grouped) == 1:
        told = st.container()
        choice = choose()
        judged = judge(view.entries, base_key=choice.base, by=choice.by)
        _section(grouped[0], choice, judged, suffix="", token=token, files=files, told=told)
        return
    choice = choose()
    judged = judge(view.entries, base_key=choice.base, by=choice.by)
    for number, group in _shown(grouped, choice, judged):
        st.html(_heading(group))
        suffix = "" if number == 0 else str(number + 1)
        _section(group, choice, judged, suffix=suffix, token=token, files=files, told=st.container())


def _shown(
    grouped: Sequence[tuple[ComparedRun, ...]], choice: Choice, judged: Judged
) -> list[tuple[int, tuple[ComparedRun, ...]]]:
    """All sections where they are few; else the answers of all as a list, and one section that the viewer picks."""
    numbered = list(enumerate(grouped))
    if len(grouped) <= AT_ONCE:
        return numbered
    st.html(overview_html(grouped, base=choice.base, by=choice.by, judged=judged))
    names = [str(number + 1) for number, _ in numbered]
    followed = follow(WORKLOAD, names, names[0])
    picked = st.selectbox(
        "Workload",
        names,
        format_func=lambda name: _title(grouped[int(name) - 1]),
        key=followed.key,
        on_change=followed.on_change,
        width=420,
    )
    return [numbered[int(picked or names[0]) - 1]]


def _section(
    entries: tuple[ComparedRun, ...],
    choice: Choice,
    judged: Judged,
    *,
    suffix: str,
    token: str | None,
    files: Files,
    told: st.delta_generator.DeltaGenerator,
) -> None:
    used = replace(choice, by=chosen(entries, choice.by))
    ordered = rows(entries, base_key=used.base, by=used.by, judged=judged)
    told.html(
        answer_html(
            answer(entries, base_key=used.base, by=used.by, judged=judged),
            caveat(entries, base_key=used.base, by=used.by, judged=judged),
        )
    )
    st.html(table_html(ordered, by=used.by))
    base_key = next((row.entry.key for row in ordered if row.is_baseline), None)
    receipts = receipts_html([row.entry for row in ordered], base_key=base_key)
    if receipts:
        st.html(receipts)
    if walk := visits_html([row.entry for row in ordered], base_key=base_key):
        st.html(walk)
    if compiled := compilations_html([row.entry for row in ordered], base_key=base_key, code=files.code):
        st.html(compiled)
    _reasons(ordered, base_key, suffix)
    limits = limits_html(ordered, base_key=base_key)
    if limits:
        st.html(limits)
    timeline_panel(ordered, suffix=suffix, choice=used, token=token)
    kernel_panel(ordered, suffix=suffix)
    if scripts := reproduce_html([row.entry for row in ordered], base_key=base_key, url=files.script):
        st.html(scripts)
    samples_panel(ordered, suffix=suffix, choice=used)


def _reasons(ordered: Sequence[ComparedRow], base_key: str | None, suffix: str) -> None:
    """The ledger beside the bars; the bars alone where the operation has no stages."""
    with_kernels = [row.entry for row in ordered if row.entry.run is not None and row.entry.run.kernels]
    if not with_kernels:
        return
    on_cpu = all(entry.run is None or entry.run.metric(By.GPU_TIME) is None for entry in with_kernels)
    bars = bars_html(
        with_kernels, base_key=base_key, subtitle="traced time by role" if on_cpu else "traced GPU time by role"
    )
    laid_out = ledger(with_kernels)
    if laid_out is None:
        st.html(bars)
        return
    left, right = st.container(key=f"reasons{suffix}").columns([1.75, 1], gap="large")
    left.html(ledger_html(laid_out, base_key=base_key, on_cpu=on_cpu))
    right.html(bars)


def _heading(entries: Sequence[ComparedRun]) -> str:
    name, label = mono(entries[0].workload.operation), muted(workload_label(entries[0].workload))
    return page(f'<div class="fs-workload"><h2>{name}</h2> {label}</div>')


def _title(entries: Sequence[ComparedRun]) -> str:
    return f"{entries[0].workload.operation} · {workload_label(entries[0].workload)}"


def footnote() -> str:
    return page(
        '<p class="fs-foot">Medians; p25–p75 is the spread of the samples. Speed-ups have 99 % intervals over builds, '
        "corrected for all variants together; results without builds have ratios and no verdict. Times are measured "
        "with the profiler off; kernels, roles and timelines come from a traced pass of their own.</p>"
    )
