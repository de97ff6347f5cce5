"""The plan in the form: cache, order, samples, budget."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app.formatting import seconds
from app.markup import section
from app.pages.form_state import initial, keep
from profiles.plan import CachePolicy, Order, Plan

BUDGETS_S = (10, 15, 20, 30, 60, 120, 300, 600, 1800)
LEAST_SAMPLES, MOST_SAMPLES = 20, 10_000


@dataclass(frozen=True, slots=True)
class _Offer:
    name: str
    title: str
    options: tuple[str, ...]
    meaning: str


CACHE = _Offer(
    "cache", "Cache", tuple(CachePolicy), "cold: flushed before each timed sample; warm: as the last call left it"
)
ORDER = _Offer(
    "order",
    "Order",
    tuple(Order),
    "interleaved: all variants in one process, rounds shuffled; isolated: one process each",
)


def show(start: Plan, context: str) -> Plan:
    st.html(section("Plan"))
    with st.grid(4, min_column_width=140, gap="small"):
        cache = _choice(CACHE, str(start.cache), context)
        order = _choice(ORDER, str(start.order), context)
        samples = _samples(start, context)
        budget = _budget(start, context)
    return Plan(cache=CachePolicy(cache), order=Order(order), samples=samples, steps=start.steps, budget_s=budget)


def _choice(offer: _Offer, default: str, context: str) -> str:
    value = initial(offer.name, default)
    index = offer.options.index(value if value in offer.options else default)
    chosen = st.selectbox(
        offer.title, offer.options, index=index, format_func=str, key=f"{context}|{offer.name}", help=offer.meaning
    )
    keep(offer.name, str(chosen), default)
    return str(chosen)


def _samples(start: Plan, context: str) -> int:
    text = initial("samples", str(start.samples))
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else start.samples
    samples = st.number_input(
        "Samples",
        LEAST_SAMPLES,
        MOST_SAMPLES,
        min(max(value, LEAST_SAMPLES), MOST_SAMPLES),
        key=f"{context}|samples",
        help="at least so many samples of every repeated time",
    )
    keep("samples", str(samples), str(start.samples))
    return int(samples)


def _budget(start: Plan, context: str) -> float:
    options = sorted({*BUDGETS_S, int(start.budget_s)})
    text = initial("budget", str(int(start.budget_s)))
    value = int(text) if text.isascii() and text.isdigit() and int(text) in options else int(start.budget_s)
    budget = st.selectbox(
        "Time budget",
        options,
        index=options.index(value),
        format_func=seconds,
        key=f"{context}|budget",
        help="of timing, for each trial",
    )
    keep("budget", str(budget), str(int(start.budget_s)))
    return float(budget)
