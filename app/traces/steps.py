"""The steps of a recording, one row each."""

from __future__ import annotations

from app.charts.doubts import Doubts
from app.charts.markup import ZERO, full_name, missing
from app.formatting import count
from app.markup import section
from app.traces.counts import per_step
from app.traces.figures import NOT_TOLD
from profiles.comparison.figures import prose_time
from profiles.trace.contents import TraceContents
from profiles.trace.work import StepWork

SHOWN = 8
COUNTS = (("Kernels", "kernels"), ("Copies", "copies"), ("Fills", "fills"), ("Launches", "launches"))
TIMES = (("Kernel time", "kernel_ns"), ("GPU busy", "busy_ns"), ("Span on the GPU", "span_ns"))
ON_A_PHONE = ("kernels", "kernel_ns")


def steps_html(contents: TraceContents, doubts: Doubts) -> str:
    """Empty where there are fewer than two: one step's figures stand among the counts."""
    if contents.step_count < 2:
        return ""
    heads = [(name, _css(kind)) for name, kind in (*COUNTS, *TIMES)] + [("Host", "num")]
    head = '<th scope="col">Step</th>' + "".join(f'<th class="{css}" scope="col">{name}</th>' for name, css in heads)
    unstable = {kind: _unstable(contents, kind) for _, kind in COUNTS}
    rows = [_row(step, contents.typical, unstable, doubts) for step in contents.steps]
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows[:SHOWN])}</tbody>"
    return (
        f'{section("Steps", aside=_aside(contents))}<div class="fs"><div class="fs-scroll"><table class="fs-steps">'
        f"{table}</table></div>{_rest(rows[SHOWN:], head)}</div>"
    )


def _aside(contents: TraceContents) -> str:
    told = "work is of the step that launched it, whenever it ran"
    left = contents.step_count - len(contents.steps)
    return f"{told}; the first {len(contents.steps)} of {contents.step_count:,}" if left else told


def _unstable(contents: TraceContents, kind: str) -> str | None:
    found = per_step([step.work for step in contents.steps], kind)
    return None if found is None else found[1]


def _row(step: StepWork, typical: str | None, unstable: dict[str, str | None], doubts: Doubts) -> str:
    name = full_name(step.name) + (' <span class="fs-muted">middle</span>' if step.name == typical else "")
    counts = "".join(
        f'<td class="{_css(kind)}">{_count(getattr(step.work, kind), unstable[kind], doubts)}</td>'
        for _, kind in COUNTS
    )
    times = "".join(f'<td class="{_css(kind)}">{_time(getattr(step.work, kind))}</td>' for _, kind in TIMES)
    return f'<tr><th scope="row">{name}</th>{counts}{times}<td class="num">{_time(step.host_ns)}</td></tr>'


def _css(kind: str) -> str:
    return "num" if kind in ON_A_PHONE else "num wide"


def _count(number: int | None, unstable: str | None, doubts: Doubts) -> str:
    if number is None:
        return missing(NOT_TOLD)
    figure = count(number) if number else ZERO
    return doubts.mark(figure, unstable)


def _time(ns: int | None) -> str:
    return missing(NOT_TOLD) if ns is None else prose_time(ns)


def _rest(rows: list[str], head: str) -> str:
    if not rows:
        return ""
    table = f'<table class="fs-steps"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<details class="fs-fold"><summary>{len(rows)} more</summary><div class="fs-scroll">{table}</div></details>'
