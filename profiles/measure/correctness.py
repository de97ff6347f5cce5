"""Is the output right? Asked before any timing, against the float64 reference of the same inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from profiles.operations.implementation import Output
from profiles.results import Correctness

ELEMENTS_AT_ONCE = 1 << 24  # widened to float64 at a time: 128 MiB


def check(call: Callable[[], Output], reference: tuple[Tensor, ...], *, tolerance: float) -> Correctness:
    """Compare one call's outputs; with several, the worst of them counts. A NaN or infinity fails.

    The memory that the call is likely to be given is filled with NaN first: an element that is never written shows.
    """
    _poison(_outputs(call()))
    outputs = _outputs(call())
    if [output.shape for output in outputs] != [expected.shape for expected in reference]:
        shapes = [tuple(output.shape) for output in outputs]
        raise ValueError(f"the output's shapes are {shapes}, expected {[tuple(r.shape) for r in reference]}")
    errors = [_errors(output, expected) for output, expected in zip(outputs, reference, strict=True)]
    relative = _greatest(error[0] for error in errors)
    return Correctness(
        relative_l2=relative,
        max_abs=_greatest(error[1] for error in errors),
        nonfinite=sum(error[2] for error in errors),
        tolerance=tolerance,
        passed=relative is not None and relative <= tolerance,
    )


def _outputs(output: Output) -> tuple[Tensor, ...]:
    return output if isinstance(output, tuple) else (output,)


def _poison(outputs: Iterable[Tensor]) -> None:
    for output in outputs:
        output.fill_(math.nan)


def _errors(output: Tensor, expected: Tensor) -> tuple[float, float, int]:
    """(relative L2, greatest absolute difference, elements that are no number), a piece at a time."""
    squares = torch.zeros(2, dtype=torch.float64, device=expected.device)
    greatest = torch.zeros((), dtype=torch.float64, device=expected.device)
    nonfinite = 0
    pieces = zip(
        torch.split(output.reshape(-1), ELEMENTS_AT_ONCE),
        torch.split(expected.reshape(-1), ELEMENTS_AT_ONCE),
        strict=True,
    )
    for got, wanted in pieces:
        difference = got.double() - wanted
        squares += torch.stack([difference.square().sum(), wanted.square().sum()])
        greatest = torch.maximum(greatest, difference.abs().max())
        nonfinite += int((~torch.isfinite(got)).sum())
    error, size = (float(value) for value in squares)
    return math.sqrt(error / size) if size else math.inf, float(greatest), nonfinite


def _greatest(errors: Iterable[float]) -> float | None:
    """None where one of them is no number: `max` would pass over a NaN."""
    found = tuple(errors)
    return max(found) if all(map(math.isfinite, found)) else None
