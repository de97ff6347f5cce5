"""SwiGLU, the feed-forward block of current decoders: down(silu(gate(x)) * up(x))."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, silu

from profiles import catalog
from profiles.ceilings import Costs
from profiles.operations import tolerance
from profiles.operations.random_inputs import TORCH_DTYPES, RandomInputs
from profiles.operations.stages import stage
from profiles.workload import Workload

ROWS_AT_ONCE = 1024  # of the float64 reference
PLAIN_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class SwiGLU:
    """The weights are parameters, as in a model: a compiler may take them as constant in place."""

    x: Tensor  # [rows, width]
    gate: nn.Parameter  # [hidden, width]
    up: nn.Parameter  # [hidden, width]
    down: nn.Parameter  # [width, hidden]


def inputs(workload: Workload, device: torch.device) -> SwiGLU:
    rows, width, hidden = _sizes(workload)
    random = RandomInputs(workload, device)
    return SwiGLU(
        x=random.activations(rows, width),
        gate=random.weights(hidden, width, fan_in=width),
        up=random.weights(hidden, width, fan_in=width),
        down=random.weights(width, hidden, fan_in=hidden),
    )


def tiny(workload: Workload) -> Workload:
    rows, width, hidden = (min(size, 64) for size in _sizes(workload))
    return Workload(
        operation=workload.operation,
        axes={"rows": rows, "width": width, "hidden": hidden},
        dtype=workload.dtype,
        distribution=workload.distribution,
        seed=workload.seed,
    )


def neighbour(workload: Workload) -> Workload:
    return catalog.at(workload, "rows", int(workload.axes["rows"]) + 8)


def resized(s: SwiGLU, workload: Workload) -> SwiGLU:
    rows, width, hidden = _sizes(workload)
    if s.gate.shape != (hidden, width):
        return inputs(workload, s.x.device)
    return replace(s, x=RandomInputs(workload, s.x.device).activations(rows, width))


def unfused(s: SwiGLU) -> Tensor:
    with stage("gate"):
        gate = linear(s.x, s.gate)
    with stage("up"):
        up = linear(s.x, s.up)
    with stage("silu"):
        activated = silu(gate)
    with stage("multiply"):
        product = activated * up
    with stage("down"):
        return linear(product, s.down)


def reference(s: SwiGLU) -> tuple[Tensor]:
    """Float64 throughout, from the same rounded inputs, some rows at a time."""
    gate, up, down = s.gate.double(), s.up.double(), s.down.double()
    blocks = (block.double() for block in torch.split(s.x, ROWS_AT_ONCE))
    return (torch.cat([linear(silu(linear(x, gate)) * linear(x, up), down) for x in blocks]),)


def plain(s: SwiGLU) -> tuple[Tensor]:
    return (torch.cat([unfused(replace(s, x=x)) for x in torch.split(s.x, PLAIN_ROWS_AT_ONCE)]),)


def error_allowed(workload: Workload) -> float:
    return tolerance.of_dtype(workload.dtype)


def useful_flops(workload: Workload) -> int:
    """The three matmuls."""
    rows, width, hidden = _sizes(workload)
    return 6 * rows * width * hidden


def least_bytes(workload: Workload) -> int:
    """Input and weights read once, the output written once."""
    rows, width, hidden = _sizes(workload)
    return (2 * rows * width + 3 * width * hidden) * TORCH_DTYPES[workload.dtype].itemsize


def costs(workload: Workload, implementation: str | None = None) -> Costs:
    """Written out, the inner rows are written by gate, up, silu and multiply, and read by silu, multiply (two of them)
    and down: eight times in all; the input is read twice."""
    rows, width, hidden = _sizes(workload)
    least, size = least_bytes(workload), TORCH_DTYPES[workload.dtype].itemsize
    moved = least + (8 * rows * hidden + rows * width) * size
    return Costs(
        least_bytes=least,
        read_bytes=least - rows * width * size,
        moved_bytes=moved if implementation == "unfused" else None,
        useful_flops=useful_flops(workload),
        executed_flops=useful_flops(workload),
    )


def tokens(workload: Workload) -> int | None:  # noqa: ARG001 - every operation is asked
    """None: one block of one layer processes no tokens to the end."""
    return None


def _sizes(workload: Workload) -> tuple[int, int, int]:
    axes = workload.axes
    return int(axes["rows"]), int(axes["width"]), int(axes["hidden"])
