"""What is laid side by side of two sequences: kernels that one operator call launched together, with their features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from profiles.comparison.traces.alignment import Codes, Scores
from profiles.results import Role
from profiles.trace.contents import Caller, TraceContents
from profiles.trace.model import Bools
from profiles.trace.names import short_name

NAME, LIKE_NAME_OF_OPERATOR, OPERATOR_AND_ROLE, LIKE_NAME, INNER_AND_ROLE = 16, 12, 10, 9, 8
OPERATOR, MODULE_AND_ROLE, ROLE = 6, 4, 2
_SAME_MODULE = 1
_BESIDE = (Role.HELPER, Role.FILL, Role.COPY)  # what comes along with the kernel that an operator is called for
_NO_CALLER = Caller()


@dataclass(frozen=True, slots=True)
class Unit:
    """Neighbours in a sequence that one call of `operator` launched; one kernel where no such call is known. `places`
    are those in the sequence, `names` the kernels' full ones and `shorts` what those come to without types and tuning,
    `inner` the operator right around the main kernel."""

    places: tuple[int, ...]
    names: tuple[str, ...]
    shorts: tuple[str, ...]
    operator: str | None
    inner: str | None
    module: str | None
    role: Role


def units(held: TraceContents) -> list[Unit]:
    found: list[list[int]] = []
    for place, instance in enumerate(held.instance_of):
        if found and instance >= 0 and held.instance_of[found[-1][-1]] == instance:
            found[-1].append(place)
        else:
            found.append([place])
    return [_unit(held, places) for places in found]


def _unit(held: TraceContents, places: list[int]) -> Unit:
    kernels = [held.kernels[held.sequence[place]] for place in places]
    main = next((at for at, kernel in enumerate(kernels) if kernel.role not in _BESIDE), 0)
    caller = held.caller_of[places[main]]
    known = held.callers[caller] if caller >= 0 else _NO_CALLER
    instance = held.instance_of[places[0]]
    together = instance >= 0
    return Unit(
        places=tuple(places),
        names=tuple(kernel.name for kernel in kernels),
        shorts=tuple(short_name(kernel.name) for kernel in kernels),
        operator=held.instances[instance] if together else None,
        inner=known.operators[-1] if together and known.operators else None,
        module=known.module,
        role=kernels[main].role,
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The features of one side's units, numbered alike on both sides; 0 is unknown."""

    name: Codes
    short: Codes
    operator: Codes
    inner: Codes
    module: Codes
    role: Codes


class Likeness:
    """What pairing units of two traces is worth, and which are interchangeable."""

    def __init__(self, first: list[Unit], second: list[Unit]) -> None:
        numbers: dict[object, int] = {None: 0, Role.OTHER: 0}
        self._first, self._second = (_columns(side, numbers) for side in (first, second))

    @property
    def kinds(self) -> tuple[Codes, Codes]:
        combined: dict[tuple[int, ...], int] = {}
        return _kinds(self._first, combined), _kinds(self._second, combined)

    def score(self, at: int, low: int, high: int) -> Scores:
        one, two, some = self._first, self._second, slice(low, high + 1)
        role = _equal(one.role[at], two.role[some])
        like = _equal(one.short[at], two.short[some])
        operator = _equal(one.operator[at], two.operator[some])
        inner = _equal(one.inner[at], two.inner[some])
        module = _equal(one.module[at], two.module[some])
        worth = np.zeros(high - low + 1, np.int32)
        for holds, points in (
            (role, ROLE),
            (module & role, MODULE_AND_ROLE),
            (operator, OPERATOR),
            (inner & role, INNER_AND_ROLE),
            (like, LIKE_NAME),
            (operator & role, OPERATOR_AND_ROLE),
            (operator & like, LIKE_NAME_OF_OPERATOR),
            (two.name[some] == one.name[at], NAME),
        ):
            worth[holds] = points
        worth[module & (worth > 0)] += _SAME_MODULE
        return worth


def _equal(code: np.int64, codes: Codes) -> Bools:
    same: Bools = (codes == code) & (code != 0)
    return same


def _columns(side: list[Unit], numbers: dict[object, int]) -> _Columns:
    def numbered(feature: str) -> Codes:
        values = [(feature, getattr(unit, feature)) for unit in side]
        return np.array([_number(numbers, value) for value in values], np.int64)

    return _Columns(*(numbered(feature) for feature in ("names", "shorts", "operator", "inner", "module", "role")))


def _number(numbers: dict[object, int], value: tuple[str, object]) -> int:
    return 0 if value[1] in (None, Role.OTHER) else numbers.setdefault(value, len(numbers))


def _kinds(columns: _Columns, combined: dict[tuple[int, ...], int]) -> Codes:
    """Units of one kind have the same kernels and the same operator: which of them is paired makes no difference."""
    pairs = zip(columns.name.tolist(), columns.operator.tolist(), strict=True)
    return np.array([combined.setdefault(pair, len(combined)) for pair in pairs], np.int64)
