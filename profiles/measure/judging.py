"""Outputs against the yardstick: as a whole, row by row, and in words what does not pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

from profiles.measure.poison import unwritten_rows
from profiles.measure.row_errors import as_rows, pieces, row_errors, whole
from profiles.measure.yardstick import Expected, Yardstick
from profiles.results import Correctness

FEW = 0.05  # share of the rows up to which the wrong ones tell more than the error of the whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One output. `relative` and `greatest` are no numbers where an element is none. `row_error` and `row_allowed` are
    those of the row that uses most of what it may err, as shares of the row's size."""

    relative: float
    greatest: float
    rows_wrong: int
    row_error: float
    row_allowed: float


def judge(outputs: Sequence[Tensor], yardstick: Yardstick) -> Correctness:
    """Of several outputs the worst counts. A NaN or infinity fails, and leaves no error to tell."""
    judged = [_judged(*pair) for pair in zip(outputs, yardstick.expected, strict=True)]
    rows = sum(len(one.sizes) for one in yardstick.expected)
    wrong = sum(one.rows_wrong for one in judged)
    if not all(math.isfinite(one.relative) for one in judged):
        return _without_numbers(outputs, yardstick, rows=rows, wrong=wrong)
    relative = max(one.relative for one in judged)
    worst = max(judged, key=lambda one: one.row_error / one.row_allowed)
    reason = None
    if relative > yardstick.tolerance and not 0 < wrong <= FEW * rows:
        reason = f"relative error {written(relative)}, tolerance {written(yardstick.tolerance)}"
    elif wrong:
        which = "it" if wrong == 1 else "the worst"
        reason = f"{_of(wrong, rows)} wrong: {which} is {_off(worst)}"
    return Correctness(
        relative_l2=relative,
        max_abs=max(one.greatest for one in judged),
        nonfinite=0,
        tolerance=yardstick.tolerance,
        passed=reason is None,
        rows=rows,
        rows_wrong=wrong,
        row_error=worst.row_error,
        row_allowed=worst.row_allowed,
        plain_error=yardstick.plain_error,
        reason=reason,
    )


def why_not_theirs(outputs: Sequence[Tensor], yardstick: Yardstick) -> str | None:
    """Whether these are the outputs for the other inputs; None where they are, or where it cannot be told.

    Plain code and the variant both err, hence twice the tolerance.
    """
    if yardstick.others is None:
        return None
    pairs = zip(outputs, yardstick.others, strict=True)
    errors = [whole(row_errors(output, plain.double()).l2) / whole(plain.double()) for output, plain in pairs]
    if all(error <= 2 * yardstick.tolerance for error in errors):
        return None
    if not all(map(math.isfinite, errors)):
        rows = sum(len(one.sizes) for one in yardstick.expected)
        return f"{_holes(outputs).words(rows)} with other inputs"
    return f"with other inputs its output is off by {written(max(errors))}, as an earlier call's would be"


def _judged(output: Tensor, expected: Expected) -> Judged:
    errors = row_errors(output, expected.reference)
    share = errors.l2 / expected.allowed
    worst = int(share.argmax())
    size = float(expected.sizes[worst])
    return Judged(
        relative=whole(errors.l2) / expected.norm,
        greatest=errors.greatest,
        rows_wrong=len(share) - int((share <= 1).sum()),
        row_error=float(errors.l2[worst]) / size,
        row_allowed=float(expected.allowed[worst]) / size,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Holes:
    """Elements that are no numbers, and the rows that hold such."""

    elements: int
    rows: int
    nan_rows: int
    infinite_rows: int
    unwritten_rows: int

    def words(self, rows: int) -> str:
        """`NaN in 12 of 8,192 rows`"""
        if self.unwritten_rows:
            return f"{_of(self.unwritten_rows, rows)} never written"
        kinds = [*(["NaN"] if self.nan_rows else []), *(["infinity"] if self.infinite_rows else [])]
        return f"{' and '.join(kinds)} in {self.rows:,} of {rows:,} rows"


def _without_numbers(outputs: Sequence[Tensor], yardstick: Yardstick, *, rows: int, wrong: int) -> Correctness:
    holes = _holes(outputs)
    return Correctness(
        relative_l2=None,
        max_abs=None,
        nonfinite=holes.elements,
        tolerance=yardstick.tolerance,
        passed=False,
        rows=rows,
        rows_wrong=wrong,
        plain_error=yardstick.plain_error,
        reason=holes.words(rows),
    )


def _holes(outputs: Iterable[Tensor]) -> Holes:
    elements = rows = nan_rows = infinite_rows = unwritten = 0
    for output in outputs:
        unwritten += unwritten_rows(output)
        for _, piece in pieces(as_rows(output)):
            nan, infinite = piece.isnan(), piece.isinf()
            elements += int(nan.sum()) + int(infinite.sum())
            rows += int((nan | infinite).any(dim=-1).sum())
            nan_rows += int(nan.any(dim=-1).sum())
            infinite_rows += int(infinite.any(dim=-1).sum())
    return Holes(elements=elements, rows=rows, nan_rows=nan_rows, infinite_rows=infinite_rows, unwritten_rows=unwritten)


def _off(row: Judged) -> str:
    return f"off by {written(row.row_error)}, {written(row.row_allowed)} passes"


def written(error: float) -> str:
    """`1.4`, `0.05`, `2.0e-3`"""
    if error >= 0.01:
        return f"{error:.2g}"
    mantissa, _, exponent = f"{error:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _of(count: int, rows: int) -> str:
    """`1 of 8,192 rows is`"""
    return f"{count:,} of {rows:,} rows {'is' if count == 1 else 'are'}"
