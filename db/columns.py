"""Column types that are the same on SQLite and PostgreSQL: aware times, any text, typed JSON, sample arrays, enums."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from enum import StrEnum
from sys import byteorder
from typing import Any, Generic, TypeVar

import msgspec
from sqlalchemy import DateTime, Dialect, Enum, LargeBinary, Text, TypeDecorator

Value = TypeVar("Value")

# PostgreSQL refuses U+0000 in text, but a kernel's name or a crash's last words may hold it.
ESCAPE, ESCAPED_NUL, ESCAPED_ESCAPE = "\ue000", "\ue000\ue001", "\ue000\ue002"


class Moment(TypeDecorator[datetime]):
    """UTC and aware on both sides; SQLite keeps it as text of fixed width, so that it compares as text."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"the time {value.isoformat()} has no time zone; only aware times are stored")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class AnyText(TypeDecorator[str]):
    """Text that may hold U+0000."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 (given by SQLAlchemy)
        if value is None:
            return None
        return value.replace(ESCAPE, ESCAPED_ESCAPE).replace("\0", ESCAPED_NUL)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 (given by SQLAlchemy)
        if value is None:
            return None
        return value.replace(ESCAPED_NUL, "\0").replace(ESCAPED_ESCAPE, ESCAPE)


class Json(TypeDecorator[Value], Generic[Value]):
    """A msgspec type as JSON text. Text rather than jsonb: its order, its numbers and U+0000 come back as written."""

    impl = Text
    cache_ok = True

    def __init__(self, value_type: type[Value]) -> None:
        self.value_type = value_type
        self._decoder = msgspec.json.Decoder(value_type)
        super().__init__()

    def process_bind_param(self, value: Value | None, dialect: Dialect) -> str | None:  # noqa: ARG002 (given by SQLAlchemy)
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Value | None:  # noqa: ARG002 (given by SQLAlchemy)
        return None if value is None else self._decoder.decode(value)


class Samples(TypeDecorator[tuple[float, ...]]):
    """Little-endian float64, eight bytes each."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: tuple[float, ...] | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002 (given by SQLAlchemy)
        return None if value is None else _native(array("d", value)).tobytes()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> tuple[float, ...] | None:  # noqa: ARG002 (given by SQLAlchemy)
        return None if value is None else tuple(_native(array("d", value)))


def values_of(enum: type[StrEnum]) -> Enum:
    """A column of an enum's values, as text: a new member needs no migration."""
    return Enum(enum, native_enum=False, length=32, values_callable=_values)


def _values(enum: Any) -> list[str]:
    return [str(member.value) for member in enum]


def _native(numbers: array[float]) -> array[float]:
    if byteorder == "big":
        numbers.byteswap()
    return numbers
