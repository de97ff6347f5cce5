"""Where a run's traced time goes: by role, and use by use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.results import KernelUse, Role, Run

MOST_SEGMENTS = 12


@dataclass(frozen=True, slots=True)
class RoleTime:
    """`share` is of the run's whole traced time; `calls` per forward pass."""

    role: Role
    time_ns: int
    share: float
    calls: int
    label: str


def traced_ns(run: Run) -> int:
    """The sum over kernels, copies and fills (on a CPU: compute operators) of one traced forward pass."""
    return sum(use.total_ns for use in run.kernels)


def by_role(run: Run) -> tuple[RoleTime, ...]:
    """One entry for each role that took time, in the order of `Role`."""
    whole = traced_ns(run)
    return tuple(
        _role_time(role, [use for use in run.kernels if use.role is role], whole)
        for role in Role
        if any(use.role is role for use in run.kernels)
    )


def segments(run: Run) -> tuple[RoleTime, ...]:
    """The uses in launch order, for one stacked bar; by role where they are too many to be told apart."""
    if len(run.kernels) > MOST_SEGMENTS:
        return by_role(run)
    whole = traced_ns(run)
    ordered = sorted(run.kernels, key=lambda use: use.position)
    return tuple(RoleTime(u.role, u.total_ns, share(u.total_ns, whole), u.calls, u.short_name) for u in ordered)


def share(part_ns: int, whole_ns: int) -> float:
    return part_ns / whole_ns if whole_ns else 0.0


def _role_time(role: Role, uses: Sequence[KernelUse], whole_ns: int) -> RoleTime:
    part = sum(use.total_ns for use in uses)
    return RoleTime(role, part, share(part, whole_ns), sum(use.calls for use in uses), str(role))
