"""New job: a question or an own choice, sized for a device, checked before it is submitted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import context
from app.devices import label, offered, preferred_device, short_name, taking
from app.forms import draft
from app.markup import section, title
from app.pages import form_state, job_summary, plan_form, workload_form
from db import workers
from db.views import WorkerView
from profiles import catalog, presets
from profiles.job import DEVICE_PATTERN
from profiles.plan import Plan


def render() -> None:
    st.html(title("New job"))
    known = workers.workers(context.database())
    left, right = st.columns([2.6, 1], gap="large")
    with left:
        question = _question()
    with right, st.container(border=True, key="card-job"):
        st.html(section("This job"))
        device = _device(known)
        summary = st.container()
    with left:
        parts, plan = _filled_in(question, device, known)
    job_summary.show(
        draft.Draft(name="", device=device, parts=parts, plan=plan, preset=None if question == draft.OWN else question),
        known,
        place=summary,
        beside=right,
    )


def _question() -> str:
    titles = {preset.name: _short(preset.question) for preset in presets.PRESETS} | {draft.OWN: "Own choice"}
    usual = presets.PRESETS[0].name
    asked = form_state.initial("preset", usual)
    chosen = st.pills(
        "Question",
        list(titles),
        default=asked if asked in titles else usual,
        required=True,
        format_func=titles.__getitem__,
        key="question",
        on_change=form_state.forget_parts,
    )
    form_state.keep("preset", str(chosen), usual)
    return str(chosen)


def _short(question: str) -> str:
    """`Which attention is fastest?` of `Which attention is fastest, and what ran?`"""
    return question.partition(",")[0].rstrip("?") + "?"


def _device(known: Sequence[WorkerView]) -> str:
    asked = form_state.initial("device", preferred_device(known))
    options = list(offered(known))
    if asked not in options and DEVICE_PATTERN.fullmatch(asked):
        options.append(asked)
    index = options.index(asked) if asked in options else 0
    chosen = st.selectbox("Device", options, index=index, format_func=lambda d: label(d, known), key="device-choice")
    form_state.keep("device", str(chosen), preferred_device(known))
    return str(chosen)


def _filled_in(question: str, device: str, known: Sequence[WorkerView]) -> tuple[tuple[draft.Part, ...], Plan]:
    kind = device.partition(":")[0]
    start, plan = _start(question, device)
    takers, name = taking(known, device), short_name(device, known)
    parts = tuple(workload_form.show(part, f"{question}|{kind}", takers, name) for part in start)
    return parts, plan_form.show(plan, f"{question}|{kind}")


def _start(question: str, device: str) -> tuple[tuple[draft.Part, ...], Plan]:
    if question != draft.OWN:
        return draft.preset_parts(question, device=device), presets.request(question, device=device).plan
    return (draft.own_part(_operation(), device=device),), Plan(budget_s=30.0)


def _operation() -> str:
    titles = {operation.name: operation.title for operation in catalog.OPERATIONS}
    usual = catalog.OPERATIONS[0].name
    asked = form_state.initial("operation", usual)
    chosen = st.segmented_control(
        "Operation",
        list(titles),
        default=asked if asked in titles else usual,
        required=True,
        format_func=titles.__getitem__,
        key="operation choice",
        on_change=form_state.forget_parts,
    )
    form_state.keep("operation", str(chosen), usual)
    return str(chosen)
