"""What one recording counts: kernels, copies, fills and launches, per step and in all, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.charts.markup import ZERO, missing
from app.formatting import count, plural
from app.markup import section
from app.traces.doubt import Findings, reasons
from app.traces.figures import NOT_TOLD
from profiles.comparison.figures import percent
from profiles.recorded import Attribution
from profiles.trace.contents import TraceContents
from profiles.trace.summary import TraceSummary
from profiles.trace.work import Work

NO_STEPS = "no steps are marked in this file"
MOST_UNSTABLE = 6
KINDS = (
    ("Kernels", "kernels", "kernels"),
    ("Copies", "copies", "memcpy"),
    ("Fills", "fills", "memset"),
    ("Launches", "launches", "launches"),
    ("Graph launches", "graph_launches", "graph_launches"),
)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all rows share; `works` are the steps', empty where none are told."""

    summary: TraceSummary
    works: Sequence[Work]
    findings: Findings


def counts_html(summary: TraceSummary, contents: TraceContents | None, findings: Findings) -> str:
    """One row per kind."""
    works = [step.work for step in contents.steps] if contents is not None else []
    frame = _Frame(summary, works, findings)
    body = "".join(_row(title, kind, name, frame) for title, kind, name in KINDS)
    per_step = f'<th class="num" scope="col">Per step<small>{_of_steps(contents)}</small></th>' if works else ""
    head = (
        f'<tr><th scope="col">Count</th>{per_step}<th class="num" scope="col">In all<small>the whole file</small></th>'
        '<th scope="col">Joined to launches</th></tr>'
    )
    aside = "" if works else NO_STEPS
    return (
        f'{section("Counts", aside=aside)}<div class="fs"><div class="fs-scroll"><table class="fs-counts">'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div></div>"
    )


def per_step_text(summary: TraceSummary) -> str | None:
    """`60`, or `59–60` where steps that launched something differ; None where no step's kernels are told."""
    steps = [step.kernels for step in summary.steps if step.kernels is not None]
    told = [kernels for kernels in steps if kernels] or steps
    if not told:
        return None
    return count(told[0]) if min(told) == max(told) else f"{count(min(told))}–{count(max(told))}"


def per_step(works: Sequence[Work], kind: str) -> tuple[str, str | None] | None:
    """What equal steps count, and why that is in doubt where they differ; None where it is not told."""
    values = [getattr(work, kind) for work in works]
    told = [value for value in values if value is not None]
    if not told:
        return None
    distinct = list(dict.fromkeys(told))
    if len(distinct) == 1:
        return count(distinct[0]), None
    listed = ", ".join(map(count, told[:MOST_UNSTABLE])) + (", …" if len(told) > MOST_UNSTABLE else "")
    return f"{count(min(told))}–{count(max(told))}", f"unstable: the steps have {listed}"


def _of_steps(contents: TraceContents | None) -> str:
    return plural(contents.step_count if contents is not None else 0, "step")


def _row(title: str, kind: str, name: str, frame: _Frame) -> str:
    step = f'<td class="num">{_step_cell(kind, frame)}</td>' if frame.works else ""
    joined = _joined(getattr(frame.summary.coverage, name, None))
    return (
        f'<tr><th scope="row">{title}</th>{step}<td class="num">{_whole_cell(name, frame)}</td>'
        f'<td class="fs-muted">{joined}</td></tr>'
    )


def _step_cell(kind: str, frame: _Frame) -> str:
    found = per_step(frame.works, kind)
    doubtful = reasons(frame.summary, "steps.kernels") if kind == "kernels" else ()
    if found is None:
        return missing("; ".join(doubtful) or NOT_TOLD)
    figure, unstable = found
    return frame.findings.mark_all(_faint(figure), doubtful or ((unstable,) if unstable else ()))


def _whole_cell(name: str, frame: _Frame) -> str:
    number = getattr(frame.summary, name)
    if number is None:
        return missing("the file has no place for such records")
    doubtful = reasons(frame.summary, name)
    figure = missing("; ".join(doubtful)) if doubtful and not number else _faint(count(number))
    return frame.findings.mark_all(figure, doubtful)


def _faint(figure: str) -> str:
    return ZERO if figure == "0" else escape(figure)


def _joined(found: Attribution | None) -> str:
    """Plain where each record has its own launch."""
    if found is None or not found.total:
        return ""
    parts = (
        (found.by_graph, "by a graph’s launch"),
        (found.inferred, "from before the recording, by order"),
        (found.unknown, "without a launch"),
    )
    told = ", ".join(f"{number:,} {words}" for number, words in parts if number)
    return f"{percent(found.coverage or 0)}{f'<span class=wide>, {told}</span>' if told else ''}"
