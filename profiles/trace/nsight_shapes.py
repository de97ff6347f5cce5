"""How kernels were launched, out of an Nsight Systems export: each distinct set kept once."""

from __future__ import annotations

from collections.abc import Sequence

from profiles.trace.model import ABSENT, LaunchShape

SHAPE_COLUMNS = (
    "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
    "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "graphNodeId",
)  # fmt: skip
_NOTHING = (None,) * len(SHAPE_COLUMNS)


class KernelShapes:
    """Numbers the shapes of one file in the order in which they come first."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}

    def numbers(self, columns: Sequence[tuple[object, ...]]) -> list[int]:
        """One for each row of the columns, which are those of SHAPE_COLUMNS; ABSENT where the file says nothing."""
        rows = zip(*columns, strict=True)
        return [ABSENT if row == _NOTHING else self._numbers.setdefault(row, len(self._numbers)) for row in rows]

    def shapes(self) -> tuple[LaunchShape, ...]:
        return tuple(_shape(row) for row in self._numbers)


def _shape(row: tuple[object, ...]) -> LaunchShape:
    registers, fixed, dynamic, *extents = (_whole(value) for value in row[:-1])
    node = row[-1]
    return LaunchShape(
        registers=registers,
        shared_bytes=None if fixed is None or dynamic is None else fixed + dynamic,
        grid=_triple(extents[:3]),
        block=_triple(extents[3:]),
        graph_node=node if isinstance(node, int) and node > 0 else None,  # old exports have 0 for none
    )


def _whole(value: object) -> int | None:
    """No record of a kernel is refused for what it says in passing: what is no number of the kind is unknown."""
    return value if isinstance(value, int) and 0 <= value < 2**32 else None


def _triple(extents: Sequence[int | None]) -> tuple[int, int, int] | None:
    x, y, z = extents
    return (x, y, z) if x and y and z else None
