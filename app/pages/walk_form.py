"""A walk in the form: which axis, how far, in which steps; what is wrong with it stands below."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app.forms import draft, plan_text
from app.forms.sweep import SweepError
from app.markup import page
from app.pages.form_state import follow, keep, place
from profiles import catalog
from profiles.job import JobError, check_walk
from profiles.plan import Walk
from profiles.workload import Workload

AXIS, LAST, STEP = "walk.axis", "walk.last", "walk.step"
FARTHEST = 10**9
USUAL_STEP = 1
USUAL_VISITS = 64


def written(walk: Walk | None) -> dict[str, str]:
    """What the address says of it where it differs from the question's own."""
    if walk is None:
        return {AXIS: plan_text.NONE}
    return {AXIS: walk.axis, LAST: str(walk.last), STEP: str(walk.step)}


def show(start: Walk | None, context: str, parts: Sequence[draft.Part]) -> Walk | None:
    axes = draft.walkable(parts)
    with st.grid(4, min_column_width=140, gap="small"):
        axis = _axis(start, context, axes)
        if axis == plan_text.NONE:
            _forget(context)
            return None
        workloads = _workloads(parts)
        usual = start if start is not None and start.axis == axis else _usual(axis, workloads)
        place_ = f"{context}|{axis}"
        last = _number("Last", LAST, usual.last, place_, "the walk goes from the workload’s own value to this one")
        step = _number("Step", STEP, usual.step, place_, "between two values")
    walk = Walk(axis=axis, last=last, step=step)
    if (problem := _problem(walk, workloads)) is not None:
        st.html(page(f'<div class="fs-problem" role="alert"><p>{escape(problem)}</p></div>'))
    return walk


def _axis(start: Walk | None, context: str, axes: Sequence[str]) -> str:
    default, key = start.axis if start is not None else plan_text.NONE, f"{context}|{AXIS}"
    options = [plan_text.NONE, *axes]
    shown = follow(key, AXIS, default, lambda text: text if text in options else plan_text.NONE)
    chosen = st.selectbox(
        "First visits along",
        options,
        index=place(options, shown),
        format_func=lambda name: "no axis" if name == plan_text.NONE else name,
        key=key,
        help="what does a new shape cost? Every value is visited twice, in a process of each variant’s own",
    )
    keep(key, AXIS, str(chosen), default)
    return str(chosen)


def _forget(context: str) -> None:
    """The address says nothing of a walk that is not made."""
    for name in (LAST, STEP):
        keep(f"{context}|{name}", name, "", "")


def _number(title: str, name: str, usual: int, context: str, meaning: str) -> int:
    key = f"{context}|{name}"
    shown = follow(key, name, str(usual), lambda text: _whole(text, usual))
    number = st.number_input(title, 1, FARTHEST, shown, key=key, help=meaning)
    keep(key, name, str(number), str(usual))
    return int(number)


def _whole(text: str, usual: int) -> int:
    return min(max(int(text), 1), FARTHEST) if text.isascii() and text.isdigit() and len(text) < 12 else usual


def _workloads(parts: Sequence[draft.Part]) -> list[Workload]:
    """None where an axis cannot be read: that is said where it stands."""
    try:
        return [workload for part in parts if part.variants for workload in draft.workloads(part)]
    except (JobError, SweepError):
        return []


def _usual(axis: str, workloads: Sequence[Workload]) -> Walk:
    """As many steps of one as the question about new shapes takes."""
    first = max((int(workload.axes[axis]) for workload in workloads), default=1)
    most = min(_most(axis, workload) for workload in workloads) if workloads else FARTHEST
    return Walk(axis=axis, last=min(first + USUAL_VISITS - 1, max(most, 1)), step=USUAL_STEP)


def _most(axis: str, workload: Workload) -> int:
    return next(one.most for one in catalog.operation(workload.operation).axes if one.name == axis)


def _problem(walk: Walk, workloads: Sequence[Workload]) -> str | None:
    try:
        for workload in workloads:
            check_walk(walk, workload)
    except JobError as error:
        return f"{error}."
    return None
