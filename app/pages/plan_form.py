"""The plan in the form: cache, order, samples, budget."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import streamlit as st

from app.formatting import seconds
from app.markup import section
from app.pages.form_state import follow, keep, place
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


def show(start: Plan, context: str, *, on_cpu: bool) -> Plan:
    """A CPU's caches are not flushed: there is no policy to choose."""
    st.html(section("Plan"))
    with st.grid(4, min_column_width=140, gap="small"):
        cache = str(start.cache) if on_cpu else _choice(CACHE, str(start.cache), context)
        order = _choice(ORDER, str(start.order), context)
        samples = _samples(start, context)
        budget = _budget(start, context)
    return msgspec.structs.replace(
        start, cache=CachePolicy(cache), order=Order(order), samples=samples, budget_s=budget
    )


def _choice(offer: _Offer, default: str, context: str) -> str:
    key = f"{context}|{offer.name}"
    shown = follow(key, offer.name, default, lambda text: text if text in offer.options else default)
    index = place(offer.options, shown)
    chosen = st.selectbox(offer.title, offer.options, index=index, format_func=str, key=key, help=offer.meaning)
    keep(key, offer.name, str(chosen), default)
    return str(chosen)


def _samples(start: Plan, context: str) -> int:
    key = f"{context}|samples"
    shown = follow(key, "samples", str(start.samples), lambda text: _within(text, start.samples))
    samples = st.number_input(
        "Samples", LEAST_SAMPLES, MOST_SAMPLES, shown, key=key, help="at least so many samples of every repeated time"
    )
    keep(key, "samples", str(samples), str(start.samples))
    return int(samples)


def _within(text: str, usual: int) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else usual
    return min(max(value, LEAST_SAMPLES), MOST_SAMPLES)


def _budget(start: Plan, context: str) -> float:
    usual, key = int(start.budget_s), f"{context}|budget"
    options = {str(value): value for value in sorted({*BUDGETS_S, usual})}
    shown = follow(key, "budget", str(usual), lambda text: options.get(text, usual))
    offered = list(options.values())
    index = place(offered, shown)
    budget = st.selectbox(
        "Time budget", offered, index=index, format_func=seconds, key=key, help="of timing, for each trial"
    )
    keep(key, "budget", str(budget), str(usual))
    return float(budget)
