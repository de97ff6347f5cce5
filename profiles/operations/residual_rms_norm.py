"""Residual addition and RMS norm: the sum goes on as the new residual, its norm into the next block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm

from profiles import catalog
from profiles.ceilings import Costs
from profiles.operations import tolerance
from profiles.operations.random_inputs import TORCH_DTYPES, RandomInputs
from profiles.operations.stages import stage
from profiles.workload import Workload

EPSILON = 1e-6
ROWS_AT_ONCE = 8192  # of the reference and of plain code


@dataclass(frozen=True, slots=True)
class ResidualRMSNorm:
    x: Tensor  # [rows, width]
    residual: Tensor  # [rows, width]
    weight: nn.Parameter  # [width]


def inputs(workload: Workload, device: torch.device) -> ResidualRMSNorm:
    rows, width = _sizes(workload)
    random = RandomInputs(workload, device)
    return ResidualRMSNorm(
        x=random.activations(rows, width),
        residual=random.activations(rows, width),
        weight=random.weights(width, fan_in=1),
    )


def tiny(workload: Workload) -> Workload:
    rows, width = _sizes(workload)
    return Workload(
        operation=workload.operation,
        axes={"rows": min(rows, 16), "width": width},
        dtype=workload.dtype,
        distribution=workload.distribution,
        seed=workload.seed,
    )


def neighbour(workload: Workload) -> Workload:
    return catalog.at(workload, "rows", int(workload.axes["rows"]) + 8)


def resized(n: ResidualRMSNorm, workload: Workload) -> ResidualRMSNorm:
    rows, width = _sizes(workload)
    if n.weight.shape != (width,):
        return inputs(workload, n.x.device)
    random = RandomInputs(workload, n.x.device)
    return replace(n, x=random.activations(rows, width), residual=random.activations(rows, width))


def unfused(n: ResidualRMSNorm) -> tuple[Tensor, Tensor]:
    """As models write it out: the norm in fp32, rounded before the weight is applied."""
    with stage("add"):
        total = n.x + n.residual
    with stage("square"):
        wide = total.float()
        squares = wide.pow(2)
    with stage("mean"):
        mean = squares.mean(dim=-1, keepdim=True)
    with stage("rsqrt"):
        inverse = torch.rsqrt(mean + EPSILON)
    with stage("scale"):
        return total, n.weight * (wide * inverse).to(total.dtype)


def functional(n: ResidualRMSNorm) -> tuple[Tensor, Tensor]:
    with stage("add"):
        total = n.x + n.residual
    with stage("square", "mean", "rsqrt", "scale"):
        return total, rms_norm(total, (total.shape[-1],), n.weight, EPSILON)


def reference(n: ResidualRMSNorm) -> tuple[Tensor, Tensor]:
    """Float64 throughout, from the same rounded inputs; the sum is not rounded before its norm is taken."""
    return _joined([_exact(x, residual, n.weight) for x, residual in _blocks(n)])


def _exact(x: Tensor, residual: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    total = x.double() + residual.double()
    inverse = torch.rsqrt(total.pow(2).mean(dim=-1, keepdim=True) + EPSILON)
    return total, total * inverse * weight.double()


def plain(n: ResidualRMSNorm) -> tuple[Tensor, Tensor]:
    return _joined([unfused(replace(n, x=x, residual=residual)) for x, residual in _blocks(n)])


def _blocks(n: ResidualRMSNorm) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(torch.split(n.x, ROWS_AT_ONCE), torch.split(n.residual, ROWS_AT_ONCE), strict=True)


def _joined(blocks: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    totals, norms = zip(*blocks, strict=True)
    return torch.cat(totals), torch.cat(norms)


def error_allowed(workload: Workload) -> float:
    return tolerance.of_dtype(workload.dtype)


def useful_flops(workload: Workload) -> int | None:  # noqa: ARG001 - every operation is asked
    """None: the operation moves memory; its rate is bytes per second."""
    return None


def least_bytes(workload: Workload) -> int:
    """Two inputs read once, two outputs written once, the weight read once."""
    rows, width = _sizes(workload)
    return (4 * rows * width + width) * TORCH_DTYPES[workload.dtype].itemsize


def costs(workload: Workload, implementation: str | None = None) -> Costs:
    rows, width = _sizes(workload)
    least, size = least_bytes(workload), TORCH_DTYPES[workload.dtype].itemsize
    per_element = _bytes_per_element(implementation, size)
    return Costs(
        least_bytes=least,
        read_bytes=least - 2 * rows * width * size,
        moved_bytes=None if per_element is None else rows * width * per_element,
    )


def _bytes_per_element(implementation: str | None, size: int) -> int | None:
    """Written and read by all steps together. Written out: the addition (3), widening, the square (8), the mean (4),
    the product (8), rounding, the weight (2); in fp32 nothing is widened or rounded."""
    match implementation:
        case "unfused":
            return 5 * size + 20 + (2 * (size + 4) if size < 4 else 0)
        case "functional":
            return 5 * size
    return None


def tokens(workload: Workload) -> int | None:  # noqa: ARG001 - every operation is asked
    """None: one norm of one layer processes no tokens to the end."""
    return None


def _sizes(workload: Workload) -> tuple[int, int]:
    return int(workload.axes["rows"]), int(workload.axes["width"])
