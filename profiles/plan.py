"""How to measure: a plan is part of every result."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class CachePolicy(StrEnum):
    """Of the GPU time. `cold`: the caches are flushed before each sample; `warm`: left as the last call made them.

    Back-to-back calls are warm by nature, and so is all that a CPU measures.
    """

    COLD = "cold"
    WARM = "warm"


class Order(StrEnum):
    """`interleaved`: all variants in one process, rounds shuffled; `isolated`: one process per variant."""

    INTERLEAVED = "interleaved"
    ISOLATED = "isolated"


class PlanError(ValueError):
    """A plan that cannot be carried out."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """At least `samples` samples of every repeated time, within `budget_s` seconds of timing per trial.

    `steps` forward passes are recorded in the traced pass, which comes after all timing.
    """

    cache: CachePolicy = CachePolicy.COLD
    order: Order = Order.INTERLEAVED
    samples: int = 30
    steps: int = 3
    budget_s: float = 60.0

    def __post_init__(self) -> None:
        if not 20 <= self.samples <= 10_000:
            raise PlanError(f"samples is {self.samples}; accepted are 20 to 10,000")
        if not 2 <= self.steps <= 20:
            raise PlanError(f"steps is {self.steps}; accepted are 2 to 20")
        if not 1.0 <= self.budget_s <= 3600.0:
            raise PlanError(f"budget_s is {self.budget_s}; accepted are 1 to 3,600 seconds")
