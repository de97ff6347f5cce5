"""The text of one axis: a value, a list (`512, 1024`) or a range (`512…575`, `1000…1400 step 100`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from profiles.catalog import Axis
from profiles.workload import AxisValue

RANGE = re.compile(r"(\d+)\s*(?:…|\.{2,3}|–|-)\s*(\d+)(?:\s+step\s+(\d+))?")
MOST_VALUES = 256
ACCEPTED = "a whole number, a list such as 512, 1024 or a range such as 512…575"


class SweepError(ValueError):
    """A text that names no values; the message says which are accepted."""


def values(axis: Axis, text: str) -> tuple[AxisValue, ...]:
    """The values that `text` names, in its order, each once."""
    parts = [part.strip() for part in text.replace("_", "").split(",")]
    found = tuple(dict.fromkeys(value for part in parts if part for value in _part(axis, part)))
    if not found:
        raise SweepError(f"{axis.name} is empty; it takes {ACCEPTED}")
    if len(found) > MOST_VALUES:
        raise SweepError(f"{axis.name} has {len(found):,} values; accepted are at most {MOST_VALUES}")
    return found


def written(swept: Sequence[AxisValue]) -> str:
    """The text of these values, a long run of neighbours as a range."""
    numbers = [value for value in swept if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) == len(swept) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}…{numbers[-1]}"
    return ", ".join(_one(value) for value in swept)


def _one(value: AxisValue) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _part(axis: Axis, part: str) -> Iterable[AxisValue]:
    if isinstance(axis.default, bool):
        return (_flag(axis, part),)
    if isinstance(axis.default, str):
        return (_choice(axis, part),)
    return _numbers(axis, part)


def _flag(axis: Axis, part: str) -> bool:
    if part.lower() not in ("true", "false"):
        raise SweepError(f"{axis.name} is {part!r}; accepted are true and false")
    return part.lower() == "true"


def _choice(axis: Axis, part: str) -> str:
    if part not in axis.choices:
        raise SweepError(f"{axis.name} is {part!r}; accepted are {', '.join(axis.choices)}")
    return part


def _numbers(axis: Axis, part: str) -> Iterable[int]:
    if part.isascii() and part.isdigit():
        return (_within(axis, part),)
    swept = RANGE.fullmatch(part)
    if swept is None:
        raise SweepError(f"{axis.name} is {part!r}; it takes {ACCEPTED}")
    first, last, step = _within(axis, swept[1]), _within(axis, swept[2]), int(swept[3] or 1)
    if first > last or step < 1:
        raise SweepError(f"{axis.name} is {part!r}; a range goes from the smaller to the larger number")
    if (last - first) // step >= MOST_VALUES:
        raise SweepError(f"{axis.name} is {part!r}; a range has at most {MOST_VALUES} values")
    return range(first, last + 1, step)


def _within(axis: Axis, digits: str) -> int:
    value = int(digits) if len(digits) < 12 else axis.most + 1
    if not 1 <= value <= axis.most:
        raise SweepError(f"{axis.name} is {digits[:12]}; accepted are whole numbers from 1 to {axis.most:,}")
    return value
