"""The options of `run` and `submit` that change how is measured."""

from __future__ import annotations

import argparse
from enum import StrEnum
from typing import Any

import msgspec

from app.forms import plan_text
from profiles.plan import CachePolicy, Load, Order, Plan


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    plan = parser.add_argument_group("plan")
    _choice(plan, "--cache", CachePolicy, "what of a call's data is in the GPU's cache before each repeated time")
    _choice(plan, "--order", Order, "all variants in one process, or one process each")
    _choice(plan, "--load", Load, "rests between blocks, or a device that is kept busy")
    plan.add_argument("--samples", type=int, metavar="N", help="at least so many samples of every repeated time")
    plan.add_argument("--builds", type=int, metavar="N", help="at least so many builds, with fresh buffers each")
    plan.add_argument("--margin", metavar="PERCENT", help="the difference that is none: measure until it can be told")
    plan.add_argument("--budget", type=float, metavar="S", help="seconds of timing, after which no build is begun")
    plan.add_argument(
        "--walk",
        metavar="AXIS=LAST[:STEP]",
        help="time the first visit to each value of an axis, from the workload's own; none for no walk",
    )
    _flag(plan, "--energy", "also measure joules per call, in loops of 5 s")
    _flag(plan, "--deep", "also profile each kernel with Nsight Compute, where it is installed")


def changed_plan(usual: Plan, options: argparse.Namespace) -> Plan:
    """PlanError where it cannot be carried out."""
    given: dict[str, Any] = {
        "cache": options.cache and CachePolicy(options.cache),
        "order": options.order and Order(options.order),
        "load": options.load and Load(options.load),
        "samples": options.samples,
        "builds": options.builds,
        "margin": None if options.margin is None else plan_text.share(options.margin),
        "budget_s": options.budget,
        "energy": options.energy,
        "deep": options.deep,
    }
    plan = msgspec.structs.replace(usual, **{name: value for name, value in given.items() if value is not None})
    return plan if options.walk is None else msgspec.structs.replace(plan, walk=plan_text.walk(options.walk))


def _choice(group: argparse._ArgumentGroup, name: str, offered: type[StrEnum], meaning: str) -> None:
    group.add_argument(name, choices=[str(one) for one in offered], help=meaning)


def _flag(group: argparse._ArgumentGroup, name: str, meaning: str) -> None:
    """None where it is not given: a preset may have it on."""
    group.add_argument(name, action=argparse.BooleanOptionalAction, default=None, help=meaning)
