"""The plan in the form: what most jobs change at first sight, the rest under More."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app.formatting import seconds
from app.forms import draft, plan_text
from app.markup import section
from app.pages import walk_form
from app.pages.form_state import follow, initial, keep, place
from profiles.plan import CachePolicy, Load, Order, Plan, PlanError

BUDGETS_S = (10, 15, 20, 30, 60, 120, 300, 600, 1800)
LEAST_PERCENT, MOST_PERCENT = 0.01, 10.0


@dataclass(frozen=True, slots=True)
class _Offer:
    name: str
    title: str
    options: tuple[str, ...]
    meaning: str


CACHE = _Offer(
    "cache",
    "Cache",
    tuple(CachePolicy),
    "cold: nothing that a call reads is in the GPU’s cache; warm: as the last call left it; "
    "in-context: weights cold, activations as their producer leaves them",
)
ORDER = _Offer(
    "order",
    "Order",
    tuple(Order),
    "interleaved: all variants in one process, rounds shuffled; isolated: one process each",
)
LOAD = _Offer(
    "load",
    "Load",
    tuple(Load),
    "burst: the device rests before each block, as in a service that waits for requests; "
    "sustained: it is kept busy until clocks and temperature have settled",
)


@dataclass(frozen=True, slots=True)
class _Count:
    """Of whole numbers from `least` to `most`."""

    name: str
    title: str
    least: int
    most: int
    meaning: str


SAMPLES = _Count("samples", "Samples", 20, 10_000, "at least so many samples of every repeated time")
BUILDS = _Count("builds", "Builds", 2, 1000, "at least so many, with fresh buffers each: what a comparison counts")


@dataclass(frozen=True, slots=True)
class _Extra:
    name: str
    title: str
    meaning: str


ENERGY = _Extra("energy", "Energy", "joules per call, in loops of 5 s for each variant")
DEEP = _Extra("deep", "Nsight Compute", "a profile of each kernel, where Nsight Compute is installed; takes minutes")


def show(start: Plan, context: str, parts: Sequence[draft.Part], *, on_cpu: bool) -> Plan:
    """A CPU's caches are not flushed and its kernels have no counters: there is nothing to choose."""
    st.html(section("Plan"))
    with st.grid(4, min_column_width=140, gap="small"):
        cache = str(start.cache) if on_cpu else _choice(CACHE, str(start.cache), context)
        budget = _budget(start, context)
        builds = _count(BUILDS, start.builds, context)
        margin = _margin(start, context)
    with st.expander("More: order, load, samples, first visits, energy", expanded=_is_changed(start, context)):
        with st.grid(4, min_column_width=140, gap="small"):
            order = _choice(ORDER, str(start.order), context)
            load = _choice(LOAD, str(start.load), context)
            samples = _count(SAMPLES, start.samples, context)
        walk = walk_form.show(start.walk, context, parts)
        with st.container(horizontal=True, gap="medium"):
            energy = _extra(ENERGY, start.energy, context)
            deep = start.deep if on_cpu else _extra(DEEP, start.deep, context)
    return Plan(
        cache=CachePolicy(cache),
        order=Order(order),
        samples=samples,
        steps=start.steps,
        budget_s=budget,
        builds=builds,
        margin=margin,
        load=Load(load),
        walk=walk,
        energy=energy,
        deep=deep,
    )


def _is_changed(start: Plan, context: str) -> bool:
    """Whether the address changed what stands under More when this form was first drawn; from then on a person opens
    and closes it."""
    usual = {
        "order": str(start.order),
        "load": str(start.load),
        "samples": str(start.samples),
        "energy": _written(start.energy),
        "deep": _written(start.deep),
        **walk_form.written(start.walk),
    }
    changed = start.walk is not None or any(initial(name, text) != text for name, text in usual.items())
    return bool(st.session_state.setdefault(f"{context}|more", changed))


def _choice(offer: _Offer, default: str, context: str) -> str:
    key = f"{context}|{offer.name}"
    shown = follow(key, offer.name, default, lambda text: text if text in offer.options else default)
    index = place(offer.options, shown)
    chosen = st.selectbox(offer.title, offer.options, index=index, format_func=str, key=key, help=offer.meaning)
    keep(key, offer.name, str(chosen), default)
    return str(chosen)


def _extra(extra: _Extra, usual: bool, context: str) -> bool:
    key, default = f"{context}|{extra.name}", _written(usual)
    shown = follow(key, extra.name, default, lambda text: text == "true")
    is_on = st.toggle(extra.title, value=shown, key=key, help=extra.meaning)
    keep(key, extra.name, _written(is_on), default)
    return is_on


def _count(count: _Count, usual: int, context: str) -> int:
    key = f"{context}|{count.name}"
    shown = follow(key, count.name, str(usual), lambda text: _within(text, usual, count))
    number = st.number_input(count.title, count.least, count.most, shown, key=key, help=count.meaning)
    keep(key, count.name, str(number), str(usual))
    return int(number)


def _within(text: str, usual: int, count: _Count) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else usual
    return min(max(value, count.least), count.most)


def _margin(start: Plan, context: str) -> float:
    key, usual = f"{context}|margin", plan_text.percent(start.margin)
    shown = follow(key, "margin", usual, lambda text: _percentage(text, float(usual)))
    percent = st.number_input(
        "Margin, %",
        LEAST_PERCENT,
        MOST_PERCENT,
        shown,
        step=0.1,
        format="%g",
        key=key,
        help="a difference that is none: measuring goes on until it can be told, or the time is spent",
    )
    text = f"{percent:.6g}"
    keep(key, "margin", text, usual)
    return plan_text.share(text)


def _percentage(text: str, usual: float) -> float:
    try:
        value = 100 * plan_text.share(text)
    except PlanError:
        return usual
    return min(max(round(value, 6), LEAST_PERCENT), MOST_PERCENT)


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


def _written(is_on: bool) -> str:
    return "true" if is_on else "false"
