"""What the variants of a trial are held against: the float64 reference, and what plain code of the same dtype errs.

Made once per process. Memory beside the inputs: the outputs in float64 and once in their own dtype, the activations
twice more, and a piece of the reference at work (the operations say how large one is).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from torch import Tensor

from profiles.measure.failures import YardstickError, breaks_the_device
from profiles.measure.given import Given
from profiles.measure.loading import OperationModule
from profiles.measure.row_errors import row_errors, row_norms, whole
from profiles.operations.random_inputs import TORCH_DTYPES
from profiles.operations.tolerance import of_dtype
from profiles.workload import Workload

TIMES_PLAIN = 8
"""A row may err this often what plain code usually errs. In 15,960 checks of honest code on a CPU (three operators,
all dtypes, 35 seeds, down to rows of one element) no row used more than 0.44 of what it may err."""
PLAIN_ROW = 8
"""On a row where plain code errs more than usual others may too, up to this often the usual: it may be plain code that
is wrong there."""
PLAIN_TRUSTED = 0.1
"""Plain code with a relative error above this measures nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One output as it should be, in float64. `sizes` [rows] is what a row's error is told against: its own norm or
    the usual one (root mean square), whichever is more. `allowed` [rows] are the L2 errors that pass."""

    reference: Tensor
    norm: float
    sizes: Tensor
    allowed: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """`tolerance` is of the whole relative L2 error. `others` are the plain outputs for the other inputs of `given`;
    it and `plain_error` are None where plain code fails here."""

    expected: tuple[Expected, ...]
    dtype: torch.dtype
    tolerance: float
    plain_error: float | None
    given: Given
    others: tuple[Tensor, ...] | None


def yardstick(module: OperationModule, workload: Workload, inputs: Any) -> Yardstick:
    """YardstickError where the reference cannot be computed or tells nothing: that is no variant's fault."""
    reference = _reference(module, inputs)
    norms = [row_norms(one) for one in reference]
    for number, rows in enumerate(norms, start=1):
        _check_reference(rows, f"output {number} of " if len(norms) > 1 else "")
    plain = _plain(module, inputs)
    errors = None if plain is None else [row_errors(*pair).l2 for pair in zip(plain, reference, strict=True)]
    plain_error = _worst(errors, norms)
    trusted = errors if plain_error is not None and plain_error <= PLAIN_TRUSTED else None
    dtype = TORCH_DTYPES[workload.dtype]
    tolerance = module.error_allowed(workload)
    if trusted is not None:  # depth and size need no allowance of their own: plain code errs by them too
        tolerance = min(tolerance, of_dtype(workload.dtype))
    others = module.resized(inputs, msgspec.structs.replace(workload, seed=workload.seed + 1))
    device = reference[0].device
    given = Given(inputs, others, redraw=lambda: module.inputs(workload, device))
    return Yardstick(
        expected=tuple(
            _expected(one, rows, None if trusted is None else trusted[number], tolerance=tolerance, dtype=dtype)
            for number, (one, rows) in enumerate(zip(reference, norms, strict=True))
        ),
        dtype=dtype,
        tolerance=max(tolerance, 2 * plain_error) if trusted is not None and plain_error else tolerance,
        plain_error=plain_error,
        given=given,
        others=_plain_of_others(module, inputs, given) if trusted is not None else None,
    )


def _reference(module: OperationModule, inputs: Any) -> tuple[Tensor, ...]:
    try:
        return module.reference(inputs)
    except (RuntimeError, MemoryError) as error:
        if breaks_the_device(error):
            raise
        raise YardstickError(f"the float64 reference cannot be computed: {error}") from error


def _check_reference(norms: Tensor, of: str) -> None:
    """YardstickError where nothing can be told against the reference whose rows have these norms; `of` names it among
    several."""
    bad = int((~torch.isfinite(norms)).sum())
    if bad:
        raise YardstickError(f"{of}the float64 reference is NaN or infinite in {bad:,} of {len(norms):,} rows")
    if not norms.any():
        raise YardstickError(f"{of}the float64 reference is zero in all of its {len(norms):,} rows")


def _plain(module: OperationModule, inputs: Any) -> tuple[Tensor, ...] | None:
    """None where plain code does not run here: a dtype without kernels, too little memory."""
    try:
        return module.plain(inputs)
    except (RuntimeError, MemoryError) as error:
        if breaks_the_device(error):
            raise
        return None


def _worst(errors: Sequence[Tensor] | None, norms: Sequence[Tensor]) -> float | None:
    """The greatest relative L2 error of several outputs; None where one is no number."""
    if errors is None:
        return None
    found = [whole(error) / whole(norm) for error, norm in zip(errors, norms, strict=True)]
    return max(found) if all(map(math.isfinite, found)) else None


def _plain_of_others(module: OperationModule, inputs: Any, given: Given) -> tuple[Tensor, ...] | None:
    given.exchange()
    try:
        return _plain(module, inputs)
    finally:
        given.put_back()


def _expected(
    reference: Tensor, norms: Tensor, plain: Tensor | None, *, tolerance: float, dtype: torch.dtype
) -> Expected:
    """A row passes within the tolerance of the whole, or within what plain code errs on rows.

    Rows that happen to be small (late rows of causal attention, sums that cancel) err as much as others in absolute
    terms: they are held against the usual row, and where nothing is known of plain code, against one rounding of it.
    """
    usual = whole(norms) / math.sqrt(len(norms))
    sizes = norms.clamp(min=usual)
    allowed = torch.maximum(norms * tolerance, torch.full_like(norms, usual * torch.finfo(dtype).eps))
    if plain is not None:
        errs = sizes * (whole(plain) / whole(norms))
        allowed = torch.maximum(allowed, TIMES_PLAIN * plain.clamp(min=errs, max=PLAIN_ROW * errs))
    return Expected(reference=reference, norm=whole(norms), sizes=sizes, allowed=allowed)
