"""Kernels that two traces do not have alike, by their names."""

from __future__ import annotations

from html import escape

from app.charts.causes import causes_html, kernel_html
from app.charts.doubts import Doubts
from app.charts.markup import swatch
from app.formatting import plural
from app.markup import section
from app.traces.figures import change_cell, count_cell, time_cell, unit_for
from app.traces.folding import SHOWN, folding_html, head_html
from profiles.comparison.figures import TimeUnit
from profiles.comparison.traces.document import Change, KernelDifference, TraceDifference

WORDS = {Change.ADDED: "only in {b}", Change.VANISHED: "only in {a}", Change.CHANGED: "changed"}


def differing_html(told: TraceDifference, *, folded: bool = False) -> str:
    """By name: added, vanished and changed kernels, the largest difference of time first; all `folded` where names
    differ anyway."""
    differing = [kernel for kernel in told.kernels if kernel.change is not Change.EQUAL]
    title = section("Kernels that differ", aside=escape(_changes(told)))
    if not told.kernels:
        title = section("Kernels that differ")
        return f'{title}<div class="fs"><p class="fs-muted">Neither file records a GPU kernel.</p></div>'
    if not differing:
        equal = plural(len(told.kernels), "kernel name")
        return f'{title}<div class="fs"><p class="fs-muted">{equal}, all with equal calls and like times.</p></div>'
    doubts = Doubts()
    unit = unit_for(max(_longest(kernel) for kernel in differing))
    head = head_html(
        ("Kernel", "", ""),
        ("Role", "", "wide"),
        ("", "", ""),
        (told.baseline, "calls", "num wide"),
        (told.candidate, "calls", "num wide"),
        (told.baseline, unit.symbol, "num wide"),
        (told.candidate, unit.symbol, "num wide"),
        (f"{told.candidate} less {told.baseline}", unit.symbol, "num"),
    )
    return title + folding_html(
        "fs-kernels fs-differing",
        head,
        differing,
        row=lambda kernel: _kernel(kernel, told, unit, doubts),
        doubts=doubts,
        shown=0 if folded else SHOWN,
    )


def _changes(told: TraceDifference) -> str:
    words = [
        f"{len(found)} {word.format(a=told.baseline, b=told.candidate)}"
        for change, word in WORDS.items()
        if (found := told.of(change))
    ]
    equal = len(told.of(Change.EQUAL))
    return ", ".join([*words, *([f"{equal} equal"] if equal else []), "by full name", str(told.basis)])


def _kernel(kernel: KernelDifference, told: TraceDifference, unit: TimeUnit, doubts: Doubts) -> str:
    word = WORDS[kernel.change].format(a=told.baseline, b=told.candidate)
    calls, time = kernel.calls, kernel.time
    causes = causes_html(kernel.launched_by, (), (), inferred=False)
    return (
        f'<tr><th scope="row">{kernel_html(kernel.short_name, kernel.name, causes)}</th>'
        f'<td class="wide fs-muted fs-nowrap">{swatch(kernel.role)} {kernel.role}</td>'
        f'<td class="fs-muted fs-nowrap">{escape(word)}</td>'
        f'<td class="num wide">{count_cell(calls.baseline, doubts, of=told.baseline)}</td>'
        f'<td class="num wide">{count_cell(calls.candidate, doubts, of=told.candidate)}</td>'
        f'<td class="num wide">{time_cell(time.baseline, unit, doubts, of=told.baseline)}</td>'
        f'<td class="num wide">{time_cell(time.candidate, unit, doubts, of=told.candidate)}</td>'
        f'<td class="num">{change_cell(time.difference_ns, unit)}</td></tr>'
    )


def _longest(kernel: KernelDifference) -> int:
    return max(kernel.time.baseline.value or 0, kernel.time.candidate.value or 0)
