"""An entry that is not measured yet, or never will be."""

from __future__ import annotations

from dataclasses import dataclass

from profiles.plan import Plan
from profiles.workload import Workload
from tests.profiles.comparison.ladder import WORKLOAD

PLAN = Plan()


@dataclass(frozen=True, slots=True)
class Waiting:
    key: str
    variant: str
    pending: bool = True
    run: None = None
    workload: Workload = WORKLOAD
    plan: Plan = PLAN
    environment: None = None
    ceilings: None = None
    trial_id: int = 0
