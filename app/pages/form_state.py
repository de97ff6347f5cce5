"""What the form's widgets share with the address: text that differs from the question's own stands in the query.

A widget's key names its question, device kind and operation, so that another question starts with its own values.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

PARTS_SEPARATOR = "."


def initial(name: str, default: str) -> str:
    """From the address where it is there, else the question's own."""
    return str(st.query_params.get(name, default))


def initial_list(name: str, default: Sequence[str]) -> tuple[str, ...]:
    return tuple(st.query_params.get_all(name)) or tuple(default)


def keep(name: str, value: str, default: str) -> None:
    """Write the value into the address, or leave it out where it is the question's own."""
    if value == default:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value


def keep_list(name: str, values: Sequence[str], default: Sequence[str]) -> None:
    if tuple(values) == tuple(default):
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = list(values) or [""]


def forget_parts() -> None:
    """Another question: what was typed for the last one goes from the address."""
    for name in [name for name in st.query_params if PARTS_SEPARATOR in name]:
        del st.query_params[name]
