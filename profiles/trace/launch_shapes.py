"""How kernels were launched: registers, shared memory, grid, block and occupancy, each distinct set kept once."""

from __future__ import annotations

import msgspec

from profiles.trace.model import ABSENT, LaunchShape

_NO_TEXT = msgspec.Raw(b"")
_TRIPLE = msgspec.json.Decoder(tuple[int, int, int])
_NUMBER = msgspec.json.Decoder(float)


class ShapeArgs(msgspec.Struct, gc=False):
    """Kineto's arguments of a kernel, as text: most are the same for thousands of slices, and are read once."""

    registers: msgspec.Raw = msgspec.field(name="registers per thread", default=_NO_TEXT)
    shared: msgspec.Raw = msgspec.field(name="shared memory", default=_NO_TEXT)
    grid: msgspec.Raw = _NO_TEXT
    block: msgspec.Raw = _NO_TEXT
    occupancy: msgspec.Raw = msgspec.field(name="est. achieved occupancy %", default=_NO_TEXT)


_Texts = tuple[bytes, bytes, bytes, bytes, bytes]


class LaunchShapes:
    """Numbers the shapes of one file in the order in which they come first."""

    def __init__(self) -> None:
        self._numbers: dict[_Texts, int] = {}

    def number(self, args: ShapeArgs) -> int:
        """ABSENT where the file says nothing of the kind."""
        if not args.block and not args.registers:
            return ABSENT
        key = (bytes(args.registers), bytes(args.shared), bytes(args.grid), bytes(args.block), bytes(args.occupancy))
        return self._numbers.setdefault(key, len(self._numbers))

    def shapes(self) -> tuple[LaunchShape, ...]:
        return tuple(_shape(texts) for texts in self._numbers)


def _shape(texts: _Texts) -> LaunchShape:
    registers, shared, grid, block, occupancy = texts
    percent = _number(occupancy)
    return LaunchShape(
        registers=_whole(registers),
        shared_bytes=_whole(shared),
        grid=_triple(grid),
        block=_triple(block),
        occupancy=percent / 100 if percent is not None and 0 < percent <= 100 else None,  # 0 means: not reported
    )


def _whole(text: bytes) -> int | None:
    """No record of a kernel is refused for what it says in passing: a number of another kind is unknown."""
    number = _number(text)
    return int(number) if number is not None and 0 <= number < 2**31 else None


def _number(text: bytes) -> float | None:
    try:
        return _NUMBER.decode(text) if text else None
    except msgspec.DecodeError:
        return None


def _triple(text: bytes) -> tuple[int, int, int] | None:
    try:
        found = _TRIPLE.decode(text) if text else None
    except msgspec.DecodeError:
        return None
    return found if found is not None and all(0 < number < 2**32 for number in found) else None
