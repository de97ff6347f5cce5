"""One operation in the form: a row of axes, and its variants with what the chosen device will do with each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app.devices import refusals
from app.forms import draft
from app.markup import mono, page, section
from app.pages.form_state import follow, follow_list, keep, keep_list, place
from app.pages.grid import ROW_PX, height
from db.views import WorkerView
from profiles import catalog
from profiles.workload import DType, Workload

READY, REFUSED, UNKNOWN = "ready", "will be refused", "no worker"
SWEEP_HINT = '<span class="fs-small">Several values make a sweep: <code>512, 1024</code> or <code>512…575</code></span>'


def show(start: draft.Part, context: str, workers: Sequence[WorkerView], device_name: str) -> draft.Part:
    """The part as it stands now."""
    operation = catalog.operation(start.operation)
    st.html(section("Workload", aside=f"{mono(operation.name)} · one trial for each combination"))
    axes, dtype = _axes(start, operation, f"{context}|{operation.name}")
    typed = draft.Part(operation=operation.name, axes=axes, dtype=dtype, variants=start.variants)
    _complain(draft.problems(typed))
    chosen = _variants(start, typed, f"{context}|{operation.name}", workers, device_name)
    return draft.Part(operation=operation.name, axes=axes, dtype=dtype, variants=chosen)


def _axes(start: draft.Part, operation: catalog.Operation, context: str) -> tuple[dict[str, str], DType]:
    texts: dict[str, str] = {}
    flags = [axis for axis in operation.axes if isinstance(axis.default, bool)]
    with st.grid(8, min_column_width=96, gap="small"):
        for axis in operation.axes:
            if axis not in flags:
                texts[axis.name] = _axis(axis, start, context)
        dtype = _dtype(start, operation, context)
    with st.container(horizontal=True, vertical_alignment="center"):
        for axis in flags:
            texts[axis.name] = _flag(axis, start, context)
        st.html(page(SWEEP_HINT))
    return texts, dtype


def _axis(axis: catalog.Axis, start: draft.Part, context: str) -> str:
    name, default, key = f"{start.operation}.{axis.name}", start.axes[axis.name], f"{context}|{axis.name}"
    if axis.choices:
        shown = follow(key, name, default, lambda text: text if text in axis.choices else default)
        typed = st.selectbox(axis.name, axis.choices, index=place(axis.choices, shown), key=key, help=axis.meaning)
    else:
        shown = follow(key, name, default, str)
        other = draft.FOLLOWS.get(axis.name)
        hint = f"as {other}" if other else None
        typed = st.text_input(axis.name, value=shown, key=key, help=axis.meaning, placeholder=hint)
    keep(key, name, typed or "", default)
    return typed or ""


def _flag(axis: catalog.Axis, start: draft.Part, context: str) -> str:
    name, default, key = f"{start.operation}.{axis.name}", start.axes[axis.name], f"{context}|{axis.name}"
    shown = follow(key, name, default, lambda text: text == "true")
    is_on = st.toggle(axis.name, value=shown, key=key, help=axis.meaning)
    keep(key, name, "true" if is_on else "false", default)
    return "true" if is_on else "false"


def _dtype(start: draft.Part, operation: catalog.Operation, context: str) -> DType:
    name, key = f"{start.operation}.dtype", f"{context}|dtype"
    shown = follow(key, name, str(start.dtype), lambda text: DType(text) if text in operation.dtypes else start.dtype)
    dtype = st.selectbox("dtype", operation.dtypes, index=place(operation.dtypes, shown), format_func=str, key=key)
    keep(key, name, str(dtype), str(start.dtype))
    return DType(dtype)


def _complain(problems: Sequence[str]) -> None:
    if problems:
        lines = "".join(f"<p>{escape(problem)}</p>" for problem in problems)
        st.html(page(f'<div class="fs-problem" role="alert">{lines}</div>'))


def _variants(
    start: draft.Part, typed: draft.Part, context: str, workers: Sequence[WorkerView], device_name: str
) -> tuple[str, ...]:
    """A table with checkboxes; the chosen variants in the catalogue's order."""
    operation = catalog.operation(start.operation)
    known = catalog.variants(operation)
    name, key = f"{start.operation}.variant", f"{context}|variants"
    table_key, before = follow_list(key, name, start.variants)
    heading = st.container()
    reasons = {variant: refusals(variant, _example(typed), workers) for variant in known}
    table = {
        "Variant": [variant.implementation for variant in known],
        "Execution": [str(variant.execution) for variant in known],
        f"On {device_name}": [[_state(reasons[variant])] for variant in known],
        "Notes": [reasons[variant] or operation.implementation(variant.implementation).note for variant in known],
    }
    selected = st.dataframe(
        table,
        key=table_key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [i for i, v in enumerate(known) if str(v) in before]}},
        row_height=ROW_PX,
        height=height(len(known)),
        hide_index=True,
        column_config={
            f"On {device_name}": st.column_config.MultiselectColumn(
                color=["green", "gray", "orange"], options=[READY, REFUSED, UNKNOWN]
            )
        },
        alt=f"Variants of {operation.name}; the selected rows are measured",
    )
    chosen = tuple(str(known[row]) for row in sorted(selected["selection"]["rows"]))
    keep_list(key, name, chosen, start.variants)
    aside = f"{len(chosen)} of {len(known)} chosen · refused ones are still recorded, with the reason"
    heading.html(section("Variants", aside=escape(aside)))
    return chosen


def _state(reason: str | None) -> str:
    return READY if reason is None else UNKNOWN if reason == UNKNOWN else REFUSED


def _example(part: draft.Part) -> Workload:
    """A workload to ask the workers about: what they can run depends on operation and dtype alone."""
    return Workload(operation=part.operation, axes={}, dtype=part.dtype)
