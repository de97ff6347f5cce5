"""How often verdicts are false, and how often intervals hold the truth: `python benchmarks/simulated_verdicts.py`.

Every kind of noise is measured as a trial is: build by build until the comparison is known well enough or the budget
is spent. No device takes part. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from profiles.verdict import Verdict
from tests.profiles.comparison.simulation import SCENARIOS, Outcome, measure

DECIDED = (Verdict.FASTER, Verdict.SLOWER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=913)
    parser.add_argument("--most-builds", type=int, action="append", help="what a budget allows; 8, 20 and 80")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for most_builds in options.most_builds or (8, 20, 80):
        print(f"\nat most {most_builds} builds, {options.comparisons} comparisons of each kind")
        print("noise            truth   builds  faster  slower  equivalent  undecided  interval holds the truth")
        for name in SCENARIOS:
            for ratio in (1.0, 1.02):
                generator = np.random.default_rng(options.seed)
                print(
                    _line(
                        name,
                        ratio,
                        [
                            measure(SCENARIOS[name], generator, ratio=ratio, most_builds=most_builds)
                            for _ in range(options.comparisons)
                        ],
                    )
                )


def _line(name: str, ratio: float, outcomes: list[Outcome]) -> str:
    found = Counter(outcome.comparison.verdict for outcome in outcomes)
    held = sum(_holds(outcome, ratio) for outcome in outcomes) / len(outcomes)
    builds = float(np.median([outcome.builds for outcome in outcomes]))
    counts = (f"{found[verdict]:>{width}}" for verdict, width in zip(Verdict, (7, 7, 11, 10), strict=True))
    return f"{name:<16} {ratio - 1:>+5.0%} {builds:>8.0f} {' '.join(counts)} {held:>24.1%}"


def _holds(outcome: Outcome, ratio: float) -> bool:
    low, high = outcome.comparison.low, outcome.comparison.high
    return low is not None and high is not None and low <= ratio <= high


if __name__ == "__main__":
    main()
