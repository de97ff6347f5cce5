"""`python -m tests.fuzzing`: many hostile inputs through the trace reader. Inputs that fail are kept as files.

Nine of ten are damaged traces, one of ten is drawn by Hypothesis; every 200th damaged one goes through the child too.
An input lies in the folder while it is read, so that it is there even where the process dies of it.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzzing.documents import documents
from tests.fuzzing.mutations import mutated, sources
from tests.fuzzing.reading import Hang, check_child, check_reading

PROJECT = Path(__file__).parents[2]
FOLDERS = (
    PROJECT / "tests" / "data" / "traces",
    Path(os.environ.get("FUSESCOPE_TRACES") or PROJECT.parent / "shared" / "traces"),
)
CHILD_EVERY = 200
SHOWN_EVERY = 1000
MOST_MEMORY = 600 << 20

Check = Callable[[bytes, Path], object]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, help="of the first input; the others follow; drawn where not given")
    parser.add_argument("--failures", type=Path, default=PROJECT / ".fuzz", help="where failing inputs are kept")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"{options.inputs:,} inputs from seed {first}", flush=True)
    begun = time.monotonic()
    run = _Run(options.failures)
    drawn = options.inputs // 10
    run.damaged(range(first, first + options.inputs - drawn))
    run.drawn(first, count=drawn)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    took_s = time.monotonic() - begun
    outcomes = f"{run.outcomes[True]:,} read, {run.outcomes[False]:,} refused, {len(run.failed)} failed"
    print(f"{outcomes}; {run.in_child:,} through the child too; {peak_bytes / 1e6:.0f} MB, {took_s:.0f} s")
    print("\n".join(run.failed[:20]))
    return int(bool(run.failed) or peak_bytes > MOST_MEMORY)


class _Run:
    def __init__(self, failures: Path) -> None:
        self.outcomes: Counter[bool] = Counter()
        self.failed: list[str] = []
        self.in_child = 0
        self._failures = failures

    def damaged(self, seeds: range) -> None:
        texts = sources(FOLDERS)
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            for position, number in enumerate(seeds, 1):
                content = mutated(number, texts)
                self._check(check_reading, content, directory, name=f"seed-{number}")
                if position % CHILD_EVERY == 0:
                    self.in_child += 1
                    self._check(check_child, content, directory, name=f"seed-{number}-child")
                if position % SHOWN_EVERY == 0:
                    print(f"{position:,} until seed {number}: {len(self.failed)} failed", flush=True)

    def drawn(self, number: int, *, count: int) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)

            @seed(number)
            @settings(
                max_examples=count,
                deadline=None,
                database=None,
                phases=(Phase.generate,),
                suppress_health_check=list(HealthCheck),
            )
            @given(content=documents())
            def check(content: bytes) -> None:
                self._check(check_reading, content, directory, name=f"drawn-{number}-{self.outcomes.total()}")

            if count:
                check()

    def _check(self, check: Check, content: bytes, directory: Path, *, name: str) -> None:
        """Everything that comes out of the reader is recorded, whatever it is: that is what this looks for."""
        self._failures.mkdir(parents=True, exist_ok=True)
        kept = self._failures / f"{name}.trace"
        kept.write_bytes(content)
        try:
            self.outcomes[bool(check(content, directory))] += 1
        except (Exception, Hang) as error:  # noqa: BLE001
            self.failed.append(f"{kept}: {type(error).__name__}: {str(error)[:200]}")
            traceback.print_exc()
            return
        kept.unlink()


if __name__ == "__main__":
    sys.exit(main())
