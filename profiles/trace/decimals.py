"""Decimal texts to integer nanoseconds, exactly: never through floating point."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import numpy as np
import numpy.typing as npt

from profiles.trace.model import Bools, Int64s

_ZERO, _NINE, _DOT = ord("0"), ord("9"), ord(".")
_MOST_DIGITS = 16  # of whole µs: in ns they fit int64, or become negative by wrapping round once
_LONGEST = 64  # characters: no honest time is longer
_LARGEST = 2**63 - 1


def nanoseconds(microseconds: Sequence[bytes]) -> tuple[Int64s, Bools]:
    """Each µs text in ns, to the nearest, and whether it is a number that fits; 0 where it is not.

    Digits with at most one point, as every Kineto file has them, are read column by column for all texts at once;
    the rest (signs, exponents, quotes, very many digits) one by one.
    """
    if not microseconds:
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    texts = np.array([text if len(text) <= _LONGEST else b"" for text in microseconds], dtype=np.bytes_)
    width = texts.dtype.itemsize
    characters = texts.view(np.uint8).reshape(len(texts), width)
    lengths = np.char.str_len(texts)
    values, valid = _plain_decimals(characters, lengths)
    for row in np.flatnonzero(~valid).tolist():
        value = _any_number(texts[row])
        if value is not None:
            values[row], valid[row] = value, True
    return values, valid


def _plain_decimals(characters: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int_]) -> tuple[Int64s, Bools]:
    count, width = characters.shape
    value = np.zeros(count, np.int64)
    whole_digits = np.zeros(count, np.int64)
    decimals = np.full(count, -1, np.int64)  # -1 before the point
    plain = lengths > 0
    for column in range(width):
        character = characters[:, column]
        used = column < lengths
        digit = (character >= _ZERO) & (character <= _NINE)
        point = (character == _DOT) & (decimals < 0)
        plain &= digit | point | ~used
        taken = digit & used & (decimals < 3)
        value[taken] = value[taken] * 10 + (character[taken] - _ZERO)
        value += used & digit & (decimals == 3) & (character >= _ZERO + 5)
        whole_digits += used & digit & (decimals < 0)
        decimals += used & ((decimals >= 0) | point)
    scale = np.array([1000, 1000, 100, 10, 1], np.int64)[np.minimum(decimals, 3) + 1]
    value *= scale
    plain &= (whole_digits > 0) & (whole_digits <= _MOST_DIGITS) & (value >= 0)
    return np.where(plain, value, 0), plain


def _any_number(text: bytes) -> int | None:
    try:
        value = Decimal(text.decode("ascii").strip().strip('"'))
        if not value.is_finite() or abs(value) > _LARGEST // 1000:
            return None
        return int((value * 1000).to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, UnicodeDecodeError):
        return None
