"""What a comparison of two variants of one trial says: a ratio, its interval over builds, and one of four verdicts."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """Against a margin of practical equivalence: `equivalent` means that the whole interval lies within it, `faster`
    and `slower` that it lies wholly beyond, `undecided` all else."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


class VariantComparison(msgspec.Struct, frozen=True, kw_only=True):
    """`ratio` is baseline ÷ candidate of `metric`, above 1 where the candidate took less time.

    `low` and `high` bound it over `builds` replicates at `confidence`, corrected for the family of comparisons that it
    was made in; they are None, and the verdict undecided, where there are too few builds. `margin` is a share
    (0.005 is 0.5 %). `notes` say what speaks against trusting the samples ("clock fell 4 %").
    """

    baseline: str
    candidate: str
    metric: str
    ratio: float
    low: float | None
    high: float | None
    verdict: Verdict
    margin: float
    builds: int
    confidence: float = 0.99
    notes: tuple[str, ...] = ()
