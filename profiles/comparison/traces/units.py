"""What is laid side by side of two sequences: kernels that one operator call launched together, with their features."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from profiles.comparison.traces.alignment import Codes, Scores
from profiles.results import Role
from profiles.trace.contents import Caller, SeenKernel, TraceContents
from profiles.trace.distinct import distinct
from profiles.trace.model import Bools
from profiles.trace.names import short_name

NAME, LIKE_NAME_OF_OPERATOR, OPERATOR_AND_ROLE, LIKE_NAME, INNER_AND_ROLE = 16, 12, 10, 9, 8
OPERATOR, MODULE_AND_ROLE, ROLE = 6, 4, 2
_SAME_MODULE = 1
_MOST_JUDGED = 2_000_000  # pairs of different units
_BESIDE = (Role.HELPER, Role.FILL, Role.COPY)  # what comes along with the kernel that an operator is called for
_NO_CALLER = Caller()
GENERATED = re.compile(r"(?:graph_\d+_)?triton_\w*?fused_(?P<operators>\w+)")


@dataclass(frozen=True, slots=True)
class Unit:
    """Neighbours in a sequence that one call of `operator` launched; one kernel where no such call is known. `places`
    are those in the sequence, `names` the kernels' full ones and `shorts` what those come to without types and tuning,
    `does` is the main kernel's role, of a generated one apart (it does what several others do), None where none is
    told, `inner` the operator right around it (also of a replayed one, where that is inferred)."""

    places: tuple[int, ...]
    names: tuple[str, ...]
    shorts: tuple[str, ...]
    operator: str | None
    inner: str | None
    module: str | None
    does: str | None


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
        inner=known.operators[-1] if known.operators and (together or known.inferred) else None,
        module=known.module,
        does=_does(kernels[main]),
    )


def _does(kernel: SeenKernel) -> str | None:
    if kernel.role is Role.OTHER:
        return None
    return f"generated {kernel.role}" if GENERATED.match(kernel.name) else str(kernel.role)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The features of one side's units, numbered alike on both sides; 0 is unknown."""

    name: Codes
    short: Codes
    operator: Codes
    inner: Codes
    module: Codes
    role: Codes

    def at(self, places: Codes) -> _Columns:
        return _Columns(*(getattr(self, field)[places] for field in _FEATURES))


_FEATURES = ("name", "short", "operator", "inner", "module", "role")


class Likeness:
    """What pairing units of two traces is worth, and which are interchangeable.

    Units of one trace repeat themselves, layer by layer: where the different ones are few, each pair of those is judged
    once."""

    def __init__(self, first: list[Unit], second: list[Unit]) -> None:
        numbers: dict[object, int] = {}
        self._first, self._second = (_columns(side, numbers) for side in (first, second))
        one, self._of_first = _distinct(self._first)
        other, self._of_second = _distinct(self._second)
        few = len(one) * len(other) <= _MOST_JUDGED
        self._table = _table(self._first.at(one), self._second.at(other)) if few else None

    @property
    def kinds(self) -> tuple[Codes, Codes]:
        """Units of one kind have the same kernels and the same operator: which of them is paired is all the same."""
        one, other = self._first, self._second
        names, operators = np.append(one.name, other.name), np.append(one.operator, other.operator)
        which = distinct(names, operators).which
        return which[: len(one.name)], which[len(one.name) :]

    def score(self, at: int, low: int, high: int) -> Scores:
        if self._table is not None:
            found: Scores = self._table[self._of_first[at]][self._of_second[low : high + 1]]
            return found
        return _scores(self._first, at, self._second.at(np.arange(low, high + 1)))


def _table(first: _Columns, second: _Columns) -> Scores:
    """[unit of the first, unit of the second]"""
    return np.stack([_scores(first, at, second) for at in range(len(first.name))])


def _scores(one: _Columns, at: int, two: _Columns) -> Scores:
    role = _equal(one.role[at], two.role)
    like = _equal(one.short[at], two.short)
    operator = _equal(one.operator[at], two.operator)
    inner = _equal(one.inner[at], two.inner)
    module = _equal(one.module[at], two.module)
    worth = np.zeros(len(two.name), np.int32)
    for holds, points in (
        (role, ROLE),
        (module & role, MODULE_AND_ROLE),
        (operator, OPERATOR),
        (inner & role, INNER_AND_ROLE),
        (like, LIKE_NAME),
        (operator & role, OPERATOR_AND_ROLE),
        (operator & like, LIKE_NAME_OF_OPERATOR),
        (two.name == one.name[at], NAME),
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

    return _Columns(*(numbered(feature) for feature in ("names", "shorts", "operator", "inner", "module", "does")))


def _number(numbers: dict[object, int], value: tuple[str, object]) -> int:
    return 0 if value[1] is None else numbers.setdefault(value, len(numbers) + 1)


def _distinct(columns: _Columns) -> tuple[Codes, Codes]:
    """The places of the units that differ in some feature, and for each unit which of them it is like."""
    found = distinct(*(getattr(columns, field) for field in _FEATURES))
    return found.first, found.which
