"""The measuring child with one more operation, whose implementations go wrong in every way: run like the real one."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from dataclasses import dataclass, field

import torch
from torch import Tensor

from profiles import catalog
from profiles.measure.__main__ import main
from profiles.operations.stages import marking
from profiles.workload import DType, Workload

WAYS = ("well", "dies_when_tiny", "dies_when_large", "dies_after_some_calls", "raises", "is_wrong", "gives_nan")
DEADLY = ("well", "hangs_after_some_calls", "wants_too_much", "reads_out_of_bounds")
LATE = ("dies_when_traced", "raises_when_traced", "raises_as_a_twin")
WALKERS = ("well", "dies_next_door", "dies_further_on", "raises_further_on", "is_wrong_further_on")
SLOW = "xml.sax.saxutils"  # any module that nothing else here imports
LARGE = 1000
FURTHER = LARGE + 3
SOME_CALLS = 12  # past the checks, within the timing
DOUBLING = Workload(operation="doubling", axes={"rows": LARGE}, dtype=DType.FP32)


@dataclass(frozen=True, slots=True)
class Doubling:
    x: Tensor
    calls: itertools.count[int] = field(default_factory=itertools.count)


def inputs(workload: Workload, device: torch.device) -> Doubling:
    return Doubling(torch.arange(1.0, 1.0 + int(workload.axes["rows"]), device=device))


def tiny(workload: Workload) -> Workload:
    return Workload(operation="doubling", axes={"rows": 2}, dtype=workload.dtype)


def neighbour(workload: Workload) -> Workload:
    return catalog.at(workload, "rows", int(workload.axes["rows"]) + 1)


def resized(d: Doubling, workload: Workload) -> Doubling:
    return inputs(workload, d.x.device)


def reference(d: Doubling) -> tuple[Tensor]:
    return (2 * d.x.double(),)


def plain(d: Doubling) -> tuple[Tensor]:
    return (2 * d.x,)


def error_allowed(_: Workload) -> float:
    return 1e-6


def useful_flops(workload: Workload) -> int:
    return int(workload.axes["rows"])


def least_bytes(workload: Workload) -> int:
    return 8 * int(workload.axes["rows"])


def tokens(_: Workload) -> None:
    return None


def well(d: Doubling) -> Tensor:
    return d.x * 2


def well_too(d: Doubling) -> Tensor:
    return d.x + d.x


def tells_what_was_imported(d: Doubling) -> Tensor:
    if len(d.x) < LARGE:
        return d.x * 2
    raise RuntimeError(f"imported: {SLOW in sys.modules}")


def dies_when_tiny(d: Doubling) -> Tensor:
    return _die() if len(d.x) < LARGE else d.x * 2


def dies_when_large(d: Doubling) -> Tensor:
    return _die() if len(d.x) == LARGE else d.x * 2


def dies_after_some_calls(d: Doubling) -> Tensor:
    return _die() if next(d.calls) >= SOME_CALLS else d.x * 2


def hangs_after_some_calls(d: Doubling) -> Tensor:
    if next(d.calls) >= SOME_CALLS:
        time.sleep(3600)
    return d.x * 2


def dies_when_traced(d: Doubling) -> Tensor:
    return _die() if marking() else d.x * 2


def raises_when_traced(d: Doubling) -> Tensor:
    return raises(d) if marking() else d.x * 2


def raises_as_a_twin(d: Doubling) -> Tensor:
    """A twin has a code object of its own."""
    return d.x * 2 if sys._getframe().f_code is raises_as_a_twin.__code__ else raises(d)


def wants_too_much(d: Doubling) -> Tensor:
    """2^50 numbers, where the input is not tiny."""
    return d.x * 2 if len(d.x) < LARGE else torch.ones(1 << 50, device=d.x.device)


def reads_out_of_bounds(d: Doubling) -> Tensor:
    """On CUDA the kernel checks the index; its failed assertion breaks the context for good."""
    return d.x * 2 if len(d.x) < LARGE else d.x[torch.full_like(d.x, 2 * LARGE, dtype=torch.int64)]


def raises(d: Doubling) -> Tensor:
    raise ZeroDivisionError(f"{len(d.x)} by zero")


def is_wrong(d: Doubling) -> Tensor:
    return d.x * 2.1


def gives_nan(d: Doubling) -> Tensor:
    return d.x * float("nan")


def dies_next_door(d: Doubling) -> Tensor:
    return _die() if len(d.x) == LARGE + 1 else d.x * 2


def dies_further_on(d: Doubling) -> Tensor:
    return _die() if len(d.x) == FURTHER else d.x * 2


def raises_further_on(d: Doubling) -> Tensor:
    return raises(d) if len(d.x) == FURTHER else d.x * 2


def is_wrong_further_on(d: Doubling) -> Tensor:
    return d.x * (2.1 if len(d.x) == FURTHER else 2)


def _die() -> Tensor:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


OPERATION = catalog.Operation(
    name="doubling",
    title="Doubling",
    stages=(),
    axes=(catalog.Axis(name="rows", symbol=None, default=LARGE, meaning="numbers", noun="row count"),),
    module=f"{__package__}.misbehaving",
    baseline="well",
    implementations=tuple(
        catalog.Implementation(way, f"{__package__}.misbehaving:{way}", way)
        for way in dict.fromkeys((*WAYS, *DEADLY, *WALKERS, *LATE, "well_too", "tells_what_was_imported"))
    ),
    slow_imports=("no.such.module", SLOW),
)

if __name__ == "__main__":
    catalog.OPERATIONS = (*catalog.OPERATIONS, OPERATION)
    sys.exit(main(sys.argv[1:]))
