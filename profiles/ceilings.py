"""What a device can do at most, as measured on it, and what a workload needs at least."""

from __future__ import annotations

import msgspec

from profiles.workload import DType


class Bandwidth(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes moved per second in GB/s by a plain kernel that touches `size_bytes` in all, of which `read_share` are
    read (1.0: only read, 0.5: copied). `cold`: the cache held nothing of it."""

    size_bytes: int
    read_share: float
    gb_per_s: float
    cold: bool = False


class MatmulRate(msgspec.Struct, frozen=True, kw_only=True):
    """The best of a few square matmuls in `dtype`; `size` is the side at which it was reached. `tf32`: in fp32, with
    the inputs rounded to TF32, as torch is set to do on the machine."""

    dtype: DType
    size: int
    tflop_per_s: float
    tf32: bool = False


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """Measured once per environment. `launch_ns` is the time of an empty kernel, back to back, on the device's clock
    (None on a CPU); `exp_per_s` is how many exponentials in fp32 it computes in a second."""

    bandwidths: tuple[Bandwidth, ...] = ()
    matmuls: tuple[MatmulRate, ...] = ()
    exp_per_s: float | None = None
    launch_ns: float | None = None
    l2_bytes: int | None = None


class CeilingsError(ValueError):
    """Ceilings that no device has."""


def check_ceilings(ceilings: Ceilings) -> None:
    """CeilingsError where a file's ceilings are none: sizes and rates are above zero, shares from 0 to 1."""
    for one in ceilings.bandwidths:
        if one.size_bytes < 1 or not one.gb_per_s > 0 or not 0 <= one.read_share <= 1:
            raise CeilingsError(
                f"{one.gb_per_s} GB/s at {one.size_bytes} bytes, {one.read_share} of them read, is no bandwidth; "
                "accepted are sizes and rates above 0 and shares from 0 to 1"
            )
    rates = [*(one.tflop_per_s for one in ceilings.matmuls), ceilings.exp_per_s, ceilings.launch_ns]
    if any(rate is not None and not rate > 0 for rate in rates):
        raise CeilingsError(f"a ceiling is {min(r for r in rates if r is not None)}; accepted are numbers above 0")


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What one forward pass needs at least: reading inputs once and writing outputs once, with `read_bytes` of it
    read; useful FLOPs are the unmasked ones, executed FLOPs those that this implementation spends (None: unknown).
    `exponentials` count the softmax's. `moved_bytes` is what this implementation moves, operator by operator as it is
    written: the least bytes, and every intermediate written and read again (None: unknown, or fused by others)."""

    least_bytes: int
    read_bytes: int | None = None
    moved_bytes: int | None = None
    useful_flops: int | None = None
    executed_flops: int | None = None
    exponentials: int | None = None
