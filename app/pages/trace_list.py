"""History's list of imported traces: bring files in, open one, compare several, runs' traces too."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import addresses, context
from app.formatting import moment, plural
from app.markup import Tone, link, page
from app.pages import links, selection
from app.pages.comparison_list import compare_traces
from app.pages.paging import current
from app.pages.trace_removal import delete_popover
from app.raw_files import removed_text
from app.traces.beside import LIST as TRACES
from app.traces.beside import Beside, asked
from app.traces.counts import per_step_text
from app.traces.facts import STATES, device_words, format_text, size_text
from app.traces.panel import import_panel
from db import imports
from db.trace_comparisons import IMPORT
from db.views import HistoryFilter, ImportedTrace, ImportStatus, Page
from profiles.comparison.figures import listed
from profiles.trace.printable import printable

LIST = "traces"
COLOURS = {None: "green", Tone.IDLE: "gray", Tone.RUN: "blue"}
READ = "read"
NOTHING_IMPORTED = "no trace was imported at first"


def show(wanted: HistoryFilter, *, per_page: int, empty: str) -> None:
    database = context.database()
    found = current(lambda first: imports.imported_traces(database, wanted, offset=first, limit=per_page), per_page)
    # Kept: an expander that begins otherwise in a later run would close over files on their way.
    is_first = st.session_state.setdefault(NOTHING_IMPORTED, not found.total)
    with st.expander("Import traces", icon=":material/upload_file:", expanded=is_first, key="import-expander"):
        import_panel(key="history-import")
    selection.show_list(LIST, found, table=_table, actions=_actions, per_page=per_page, empty=empty)


def _table(found: Page[ImportedTrace]) -> list[int]:
    zone = context.zone()
    table: dict[str, Sequence[object]] = {
        "Trace": [printable(trace.name) for trace in found.items],
        "State": [[_state(trace)[0]] for trace in found.items],
        "Kernels per step": [_per_step(trace) for trace in found.items],
        "Kernels": [_kernels(trace) for trace in found.items],
        "Device": [device_words(trace.summary) or None for trace in found.items],
        "Format": [format_text(trace.summary.format) if trace.summary else None for trace in found.items],
        "Size": [size_text(trace.size_bytes) for trace in found.items],
        "By": [trace.submitted_by or "" for trace in found.items],
        "When": [moment(trace.submitted_at, zone) for trace in found.items],
        "Why": [printable(trace.failure.message) if trace.failure else "" for trace in found.items],
    }
    for name in ("By", "Why"):
        if not any(table[name]):
            del table[name]
    states = dict(_state(trace) for trace in found.items)
    columns = {
        "Trace": st.column_config.TextColumn(width=330),
        "Kernels per step": st.column_config.TextColumn(alignment="right"),
        "Size": st.column_config.TextColumn(alignment="right"),
        "Kernels": st.column_config.NumberColumn("Kernels in all", format="%,d"),
        "State": st.column_config.MultiselectColumn(
            options=list(states), color=[COLOURS[tone] for tone in states.values()]
        ),
    }
    return selection.select_rows(LIST, found.items, table, columns=columns, alt="Imported traces, latest first")


def _state(trace: ImportedTrace) -> tuple[str, Tone | None]:
    return STATES.get(trace.status, (READ, None))


def _per_step(trace: ImportedTrace) -> str | None:
    return None if trace.summary is None else per_step_text(trace.summary)


def _kernels(trace: ImportedTrace) -> int | None:
    """None also where the GPU's records were lost: such a file shows no kernels, which is not none."""
    return trace.summary.kernels or (None if "kernels" in trace.summary.doubtful else 0) if trace.summary else None


def _actions(selected: Sequence[ImportedTrace], shown: Sequence[ImportedTrace]) -> None:
    """The button says what it will do with what is selected, and with what another page sent here."""
    beside = asked()
    number = len(selected) + len(beside)
    label = "Open" if number < 2 else f"Compare {number} traces"
    if st.button(label, type="primary", disabled=number < 1 or (number == 1 and not selected), key="compare-traces"):
        if beside or len(selected) > 1:
            _compare(selected, beside)
        else:
            _open(selected[0])
    one = selected[0] if len(selected) == 1 else None
    if one is not None and one.status is ImportStatus.DONE and one.raw_removed_at is None:
        st.link_button("Raw file", f"api/v1/traces/{one.id}/raw", key="raw")
    delete_popover(one, of=LIST)
    selection.clear_button(LIST, selected)
    if beside:
        st.html(page(link("Leave them out", addresses.address(addresses.HISTORY, list=TRACES))), width="content")
    selection.caption(_what_happens(selected, beside), selected, shown)


def _what_happens(selected: Sequence[ImportedTrace], beside: Sequence[Beside]) -> str:
    if beside and not selected:
        return f"Select what to put beside {listed([one.label for one in beside])}."
    if not selected:
        return "Select one to open it; select several to put them side by side."
    if len(selected) + len(beside) == 1:
        return ", ".join([*_kernels_of(selected[0]), *_raw_file_of(selected[0])])
    devices = {device_words(trace.summary) for trace in selected if trace.summary is not None}
    told = ["side by side" + (f", with {listed([one.label for one in beside])}" if beside else "")]
    told += ["different devices: kernels are matched by operator and order"] if len(devices) > 1 else []
    refused = sum(trace.status is ImportStatus.FAILED for trace in selected)
    return ", ".join([*told, *([f"{refused} of them refused"] if refused else [])])


def _kernels_of(trace: ImportedTrace) -> list[str]:
    return [plural(trace.summary.kernels, "kernel")] if trace.summary and trace.summary.kernels else []


def _raw_file_of(trace: ImportedTrace) -> list[str]:
    """Nothing where it is kept: the button says so."""
    if trace.raw_removed_at is None:
        return []
    keep_days = context.settings().keep_raw_days
    return [f"raw file {removed_text(trace.raw_removed_at, keep_days=keep_days, zone=context.zone())}"]


def _open(trace: ImportedTrace) -> None:
    if trace.comparison_id is not None:
        links.go(addresses.COMPARISON, {"id": str(trace.comparison_id)})
    _compare([trace], [])


def _compare(selected: Sequence[ImportedTrace], beside: Sequence[Beside]) -> None:
    chosen = [one.source for one in beside] + [(IMPORT, trace.id) for trace in selected]
    compare_traces(list(dict.fromkeys(chosen)), of=LIST)
