"""What another page sends to History's list of traces, to be compared with those that are selected there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app import context
from app.addresses import identity
from db.errors import NotFound
from db.imports import imported_trace
from db.runs import run
from db.trace_comparisons import IMPORT, MOST_TRACES, RUN
from db.views import ComparedTrace
from profiles.trace.printable import printable

LIST = "Traces"
PARAMETER = "with"


@dataclass(frozen=True, slots=True)
class Beside:
    """`source` is what `compare_traces` takes."""

    source: tuple[str, int]
    label: str


def source(trace: ComparedTrace) -> tuple[str, int]:
    """What `compare_traces` takes for it."""
    if trace.imported is not None:
        return IMPORT, trace.imported.id
    assert trace.run_id is not None, "a trace is imported or a run's"
    return RUN, trace.run_id


def query(sources: Sequence[tuple[str, int]]) -> dict[str, str]:
    """Of the list's address, with these traces (`import`) and runs (`run`) to be put beside others."""
    return {"list": LIST, PARAMETER: ",".join(f"{kind}-{number}" for kind, number in sources[:MOST_TRACES])}


def asked() -> list[Beside]:
    """What the address names and there is."""
    named = [text for text in st.query_params.get(PARAMETER, "").split(",") if text][:MOST_TRACES]
    return [found for text in named if (found := _found(text)) is not None]


def _found(text: str) -> Beside | None:
    kind, _, digits = text.partition("-")
    number = identity(digits)
    if number is None or kind not in (IMPORT, RUN):
        return None
    database = context.database()
    try:
        label = imported_trace(database, number).name if kind == IMPORT else run(database, number).variant
    except NotFound:
        return None
    return Beside((kind, number), printable(label))
