"""The kernels of one run's forward pass: role, stages, calls, time and share of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from app.charts.causes import causes_html, kernel_html
from app.charts.launch import launch_cell
from app.charts.markup import doubted, missing, swatch
from app.formatting import count
from profiles.comparison.figures import TimeUnit, percent
from profiles.comparison.recording import times_doubt
from profiles.comparison.roles import share, traced_ns
from profiles.recorded import KernelCauses
from profiles.results import KernelUse, Run

IN_ORDER = 14
SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all rows of one table share; `stages` is how many the operation has, 0 leaves their column out; `launches`
    says whether the trace tells how kernels were launched."""

    unit: TimeUnit
    stages: int
    on_cpu: bool
    whole_ns: int
    longest_ns: int
    launches: bool
    causes: Mapping[int, KernelCauses]


def kernels_html(run: Run, *, unit: TimeUnit, stages: int, on_cpu: bool) -> str:
    """In launch order while the list is short, else the longest first with the rest folded."""
    longest = max((use.total_ns for use in run.kernels), default=0)
    launches = any(use.block is not None for use in run.kernels)
    frame = _Frame(unit, stages, on_cpu, traced_ns(run), longest, launches, _causes(run))
    few = len(run.kernels) <= IN_ORDER
    ordered = sorted(run.kernels, key=lambda use: use.position if few else -use.total_ns)
    shown, rest = (ordered, []) if few else (ordered[:SHOWN], ordered[SHOWN:])
    body = "".join(_row(use, frame) for use in shown) + _total(run, frame)
    return f'<div class="fs">{_table(body, frame)}{_folded(rest, frame)}</div>'


def _causes(run: Run) -> Mapping[int, KernelCauses]:
    """By the kernel's position; of runs that were stored before they were kept, the operators alone."""
    operators = run.recorded.launched_by if run.recorded is not None else ()
    told = run.causes or tuple(KernelCauses(operators=found) for found in operators)
    return {use.position: causes for use, causes in zip(run.kernels, told, strict=False)}


def _table(body: str, frame: _Frame) -> str:
    kind = "fs-kernels launches" if frame.launches else "fs-kernels"
    return f'<div class="fs-scroll"><table class="{kind}">{_head(frame)}<tbody>{body}</tbody></table></div>'


def _head(frame: _Frame) -> str:
    stage = '<th class="wide">Stage</th>' if frame.stages else ""
    launch = '<th class="wide num">Launch<small>blocks × threads · regs</small></th>' if frame.launches else ""
    first = "Operator" if frame.on_cpu else "Kernel"
    return (
        f'<thead><tr><th>{first}</th><th class="wide">Role</th>{stage}<th class="num">Calls</th>'
        f'<th class="num">{frame.unit.symbol}</th><th class="num">Share</th>{launch}<th class="wide"></th></tr></thead>'
    )


def _row(use: KernelUse, frame: _Frame) -> str:
    bar = (
        f'<i class="fs-block fs-role-{use.role}" style="width:{share(use.total_ns, frame.longest_ns) * 100:.2f}%"></i>'
    )
    stage = f'<td class="wide fs-muted">{_stages(use, frame.stages)}</td>' if frame.stages else ""
    launch = f'<td class="wide num fs-muted">{launch_cell(use)}</td>' if frame.launches else ""
    span = f"over the traced passes {frame.unit.span(use.min_ns, use.max_ns)} {frame.unit.symbol}"
    return (
        f'<tr><th scope="row">{_name(use, frame.causes.get(use.position, KernelCauses()), on_cpu=frame.on_cpu)}</th>'
        f'<td class="wide fs-muted fs-nowrap">{swatch(use.role)} {use.role}</td>{stage}'
        f'<td class="num">{count(use.calls)}</td>'
        f'<td class="num" title="{escape(span)}">{frame.unit.write(use.total_ns)}</td>'
        f'<td class="num">{share(use.total_ns, frame.whole_ns) * 100:.1f} %</td>{launch}'
        f'<td class="wide fs-barcell">{bar}</td></tr>'
    )


def _name(use: KernelUse, causes: KernelCauses, *, on_cpu: bool) -> str:
    told = causes_html(
        causes.operators,
        causes.modules,
        causes.sources,
        inferred=causes.inferred,
        launch_calls=causes.launch_calls,
        on_cpu=on_cpu,
    )
    return kernel_html(use.short_name, use.name, told)


def _stages(use: KernelUse, stages: int) -> str:
    if not use.stages:
        return missing("the trace does not tell the stage")
    return f"all {stages} stages" if len(use.stages) == stages > 1 else escape(", ".join(use.stages))


def _total(run: Run, frame: _Frame) -> str:
    """The sum, beside the time measured without the profiler."""
    timed = run.metric("call_time" if frame.on_cpu else "gpu_time")
    aside = "" if timed is None else f"profiler off: {frame.unit.write(timed.value)} {frame.unit.symbol}"
    stage = '<td class="wide"></td>' if frame.stages else ""
    columns = 2 if frame.launches else 1
    return (
        f'<tr class="fs-sum"><th scope="row">one traced forward pass</th><td class="wide"></td>{stage}'
        f'<td class="num">{count(sum(use.calls for use in run.kernels))}</td>'
        f'<td class="num">{doubted(frame.unit.write(frame.whole_ns), times_doubt(run))}</td><td class="num"></td>'
        f'<td class="wide num fs-nowrap" colspan="{columns}">{escape(aside)}</td></tr>'
    )


def _folded(rest: Sequence[KernelUse], frame: _Frame) -> str:
    if not rest:
        return ""
    part = percent(share(sum(use.total_ns for use in rest), frame.whole_ns))
    summary = f"<summary>{len(rest)} more, {part} of the time</summary>"
    return f'<details class="fs-fold">{summary}{_table("".join(_row(use, frame) for use in rest), frame)}</details>'
