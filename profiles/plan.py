"""How to measure: a plan is part of every result."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class CachePolicy(StrEnum):
    """Of every repeated time of a run. `cold`: nothing that a call reads is in the GPU's cache; `warm`: left as the
    last call made them; `in-context`: weights cold, activations as their producer leaves them.

    A CPU measures warm, whatever the plan says.
    """

    COLD = "cold"
    WARM = "warm"
    IN_CONTEXT = "in-context"


class Order(StrEnum):
    """`interleaved`: all variants in one process, rounds shuffled; `isolated`: one process per variant."""

    INTERLEAVED = "interleaved"
    ISOLATED = "isolated"


class Load(StrEnum):
    """`burst`: the device rests before each block, as in a service that waits for requests; `sustained`: it is kept
    busy until clocks and temperature have settled, and between blocks."""

    BURST = "burst"
    SUSTAINED = "sustained"


class PlanError(ValueError):
    """A plan that cannot be carried out."""


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """Visit every value of `axis` from the workload's own to `last`, `step` apart, and time each one's first visit."""

    axis: str
    last: int
    step: int = 1

    def __post_init__(self) -> None:
        if self.step < 1:
            raise PlanError(f"the walk's step is {self.step}; accepted are whole numbers from 1")

    def values(self, first: int) -> range:
        return range(first, self.last + 1, self.step)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """At least `samples` samples of every repeated time, in at least `builds` builds (fresh buffers each).

    Timing goes on, build by build, until every comparison with the baseline is known to half of `margin` (a share: the
    practical equivalence), or `budget_s` seconds of timing per trial are spent. `steps` forward passes are recorded in
    the traced pass, which comes after all timing. `energy` adds loops of at least 5 s per variant, `deep` a profile by
    Nsight Compute where it is installed.
    """

    cache: CachePolicy = CachePolicy.COLD
    order: Order = Order.INTERLEAVED
    samples: int = 30
    steps: int = 3
    budget_s: float = 60.0
    builds: int = 8
    margin: float = 0.005
    load: Load = Load.BURST
    walk: Walk | None = None
    energy: bool = False
    deep: bool = False

    def __post_init__(self) -> None:
        if not 20 <= self.samples <= 10_000:
            raise PlanError(f"samples is {self.samples}; accepted are 20 to 10,000")
        if not 2 <= self.steps <= 20:
            raise PlanError(f"steps is {self.steps}; accepted are 2 to 20")
        if not 1.0 <= self.budget_s <= 3600.0:
            raise PlanError(f"budget_s is {self.budget_s}; accepted are 1 to 3,600 seconds")
        if not 2 <= self.builds <= 1000:
            raise PlanError(f"builds is {self.builds}; accepted are 2 to 1,000")
        if not 0.0 < self.margin <= 0.1:
            raise PlanError(f"margin is {self.margin}; accepted are shares above 0, up to 0.1")
