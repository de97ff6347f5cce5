"""What the form's widgets share with the address: text that differs from the question's own stands in the query.

A widget's key names its question, device kind and operation, so that another question starts with its own values.
Around each widget stand `follow`, which gives it news of the address, and `keep`, which gives the address news of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

Value = TypeVar("Value")
PARTS_SEPARATOR = "."
NONE = ("",)  # a list of which nothing is chosen


def follow(key: str, name: str, default: str, read: Callable[[str], Value]) -> Value:
    """What the widget is to show; give it that as its default as well.

    A widget that the browser draws anew, after a run that another cut short, falls back to its default, and says so as
    if a person had chosen it.

    News are an address that was opened and a step back; else what the widget has is newer than the address.
    """
    told = initial(name, default)
    if key not in st.session_state or st.session_state.get(_told(key), told) != told:
        st.session_state[key] = read(told)
        st.session_state[_told(key)] = told
    shown: Value = st.session_state[key]
    return shown


def keep(key: str, name: str, value: str, default: str) -> None:
    """Write the value into the address, or leave it out where it is the question's own.

    An address that says so already stays as it is: writing it again would undo a step back that is on its way, and
    every other writing is a step that the browser's history gets.
    """
    if value != initial(name, default):
        _write(name, [] if value == default else [value])
    st.session_state[_told(key)] = initial(name, default)


def follow_list(key: str, name: str, default: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """(a key for the widget, what it shows at first). A table's selection cannot be set: news make a new table."""
    told = initial_list(name, default)
    if st.session_state.get(_told(key), told) != told:
        st.session_state[_tables(key)] = st.session_state.get(_tables(key), 0) + 1
        st.session_state[_told(key)] = told
    return f"{key} {st.session_state.get(_tables(key), 0)}", told


def keep_list(key: str, name: str, values: Sequence[str], default: Sequence[str]) -> None:
    chosen = tuple(values) or NONE
    if chosen != initial_list(name, default):
        _write(name, [] if chosen == tuple(default) else chosen)
    st.session_state[_told(key)] = initial_list(name, default)


def place(options: Sequence[Value], shown: Value) -> int:
    """Where a select box starts; an option that is no longer there gives way to the first."""
    return options.index(shown) if shown in options else 0


def initial(name: str, default: str) -> str:
    """From the address where it is there, else the question's own."""
    return str(st.query_params.get(name, default))


def initial_list(name: str, default: Sequence[str]) -> tuple[str, ...]:
    return tuple(st.query_params.get_all(name)) or tuple(default)


def turn_to(key: str, name: str, usual: str) -> None:
    """Another question: what was typed for the last one goes from the address, in one step of the browser's history."""
    kept = {other: st.query_params.get_all(other) for other in st.query_params if PARTS_SEPARATOR not in other}
    chosen = str(st.session_state[key])
    st.query_params.from_dict({**kept, name: [] if chosen == usual else [chosen]})


def _write(name: str, values: Sequence[str]) -> None:
    if values:
        st.query_params[name] = list(values)
    else:
        st.query_params.pop(name, None)


def _told(key: str) -> str:
    return f"{key} told"


def _tables(key: str) -> str:
    return f"{key} tables"
