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
    shown = form_state.follow("question", "preset", usual, lambda text: text if text in titles else usual)
    chosen = st.pills(
        "Question",
        list(titles),
        default=shown,
        required=True,
        format_func=titles.__getitem__,
        key="question",
        on_change=form_state.turn_to,
        args=("question", "preset", usual),
    )
    form_state.keep("question", "preset", str(chosen), usual)
    return str(chosen)


def _short(question: str) -> str:
    """`Which attention is fastest?` of `Which attention is fastest, and what ran?`"""
    return question.partition(",")[0].rstrip("?") + "?"


def _device(known: Sequence[WorkerView]) -> str:
    usual, key = preferred_device(known), "device-choice"
    options = list(offered(known))
    asked = form_state.initial("device", usual)
    if asked not in options and DEVICE_PATTERN.fullmatch(asked):
        options.append(asked)
    shown = form_state.follow(key, "device", usual, lambda text: text if text in options else options[0])
    index = form_state.place(options, shown)
    chosen = st.selectbox("Device", options, index=index, format_func=lambda d: label(d, known), key=key)
    form_state.keep(key, "device", str(chosen), usual)
    return str(chosen)


def _filled_in(question: str, device: str, known: Sequence[WorkerView]) -> tuple[tuple[draft.Part, ...], Plan]:
    kind = device.partition(":")[0]
    start, plan = _start(question, device)
    takers, name = taking(known, device), short_name(device, known)
    parts = tuple(workload_form.show(part, f"{question}|{kind}", takers, name) for part in start)
    return parts, plan_form.show(plan, f"{question}|{kind}", parts, on_cpu=kind == "cpu")


def _start(question: str, device: str) -> tuple[tuple[draft.Part, ...], Plan]:
    if question != draft.OWN:
        return draft.preset_parts(question, device=device), presets.request(question, device=device).plan
    return (draft.own_part(_operation(), device=device),), draft.own_plan(device=device)


def _operation() -> str:
    titles = {operation.name: operation.title for operation in catalog.OPERATIONS}
    usual = catalog.OPERATIONS[0].name
    key = "operation choice"
    shown = form_state.follow(key, "operation", usual, lambda text: text if text in titles else usual)
    chosen = st.segmented_control(
        "Operation",
        list(titles),
        default=shown,
        required=True,
        format_func=titles.__getitem__,
        key=key,
        on_change=form_state.turn_to,
        args=(key, "operation", usual),
    )
    form_state.keep(key, "operation", str(chosen), usual)
    return str(chosen)
