"""The roofline: how many FLOPs a byte each variant gets, how many a second, and the device's two roofs above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from profiles.comparison.entry import Entry, EntryT
from profiles.comparison.limits import Standing, is_cold
from profiles.comparison.rates import bandwidth, matmul_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """Of one device, as measured on it: memory at the size and mix of this operation, matmuls in its dtype."""

    device: str
    gb_per_s: float
    tflop_per_s: float

    @property
    def ridge(self) -> float:
        """FLOPs per byte from which on matmuls are the limit."""
        return self.tflop_per_s * 1e3 / self.gb_per_s

    def at(self, intensity: float) -> float:
        """TFLOP/s at most."""
        return min(self.tflop_per_s, intensity * self.gb_per_s / 1e3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(Generic[EntryT]):
    """`exact`: by the bytes that the variant moves; else by the least, so that it may stand too far right."""

    entry: EntryT
    intensity: float
    tflop_per_s: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline(Generic[EntryT]):
    """Points fastest first."""

    roofs: tuple[Roof, ...]
    points: tuple[Point[EntryT], ...]


def roofline(standings: Sequence[tuple[EntryT, Standing]]) -> Roofline[EntryT] | None:
    """None where no variant has FLOPs, or no device has both roofs."""
    found = [
        Point(entry=entry, intensity=one.intensity, tflop_per_s=one.tflop_per_s, exact=one.exact)
        for entry, one in standings
        if one.intensity and one.tflop_per_s
    ]
    roofs = tuple(dict.fromkeys(roof for point in found if (roof := _roof(point.entry)) is not None))
    if not roofs:
        return None
    return Roofline(roofs=roofs, points=tuple(sorted(found, key=lambda point: -point.tflop_per_s)))


def _roof(entry: Entry) -> Roof | None:
    costs = None if entry.run is None else entry.run.costs
    if costs is None or entry.ceilings is None or entry.environment is None:
        return None
    share = None if costs.read_bytes is None else costs.read_bytes / costs.least_bytes
    memory = bandwidth(entry.ceilings, costs.least_bytes, read_share=share, cold=is_cold(entry))
    matmul = matmul_rate(entry.ceilings, entry.workload.dtype)
    if not memory or not matmul:
        return None
    return Roof(device=entry.environment.device_name, gb_per_s=memory, tflop_per_s=matmul)
