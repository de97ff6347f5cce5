"""The parts of a plan as people write them: in options of the command line, in addresses and on pages."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from profiles.plan import Plan, PlanError, Walk

NONE = "none"


def percent(share: float) -> str:
    """`0.5` of 0.005."""
    return f"{Decimal(repr(share)) * 100:f}".rstrip("0").rstrip(".")


def share(text: str) -> float:
    """0.005 of `0.5` or `0.5%`; PlanError where it is no number."""
    try:
        value = Decimal(text.strip().removesuffix("%").strip())
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite():
        raise PlanError(f"margin is {text!r}; accepted are percentages above 0, up to 10, such as 0.5")
    return float(value / 100)


def walk_text(walk: Walk | None) -> str:
    """`seq_kv=575`, `rows=1112:8`, or `none`."""
    if walk is None:
        return NONE
    return f"{walk.axis}={walk.last}" + (f":{walk.step}" if walk.step != 1 else "")


def walk(text: str) -> Walk | None:
    """The walk that `walk_text` writes; PlanError where the text is none."""
    if text == NONE:
        return None
    axis, _, values = text.partition("=")
    last, colon, step = values.partition(":")
    if not (axis and _is_whole(last) and (not colon or _is_whole(step))):
        raise PlanError(f"walk is {text!r}; expected AXIS=LAST, AXIS=LAST:STEP such as rows=1112:8, or none")
    return Walk(axis=axis, last=int(last), step=int(step or 1))


def options(plan: Plan, usual: Plan) -> list[str]:
    """The options of `fusescope run` that make this plan of the usual one; the traced steps have none."""
    values = {
        "cache": (str(plan.cache), str(usual.cache)),
        "order": (str(plan.order), str(usual.order)),
        "load": (str(plan.load), str(usual.load)),
        "samples": (str(plan.samples), str(usual.samples)),
        "builds": (str(plan.builds), str(usual.builds)),
        "margin": (percent(plan.margin), percent(usual.margin)),
        "budget": (f"{plan.budget_s:.10g}", f"{usual.budget_s:.10g}"),
        "walk": (walk_text(plan.walk), walk_text(usual.walk)),
    }
    flags = {"energy": (plan.energy, usual.energy), "deep": (plan.deep, usual.deep)}
    return [
        *(f"--{name} {value}" for name, (value, known) in values.items() if value != known),
        *(f"--{'' if is_on else 'no-'}{name}" for name, (is_on, known) in flags.items() if is_on != known),
    ]


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12
