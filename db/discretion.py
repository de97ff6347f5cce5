"""What a share link keeps to itself: under whose account a file lay, in messages, receipts and code."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

import msgspec

Value = TypeVar("Value")

_NAME = r"[^/\\\s'\"`:;,()<>|=]+"
_HOME = re.compile(rf"(?<![\w.])(?:/home/{_NAME}|/Users/{_NAME}|/root(?![\w.-])|[A-Za-z]:\\Users\\{_NAME})")
_INDUCTOR = re.compile(rf"torchinductor_{_NAME}")  # inductor's folder, which it names after the user
_LONG_PATH = re.compile(rf"(?:~|(?<![\w.)\]:/~]))(?:/{_NAME})+((?:/{_NAME}){{2}})")


def without_places(text: str) -> str:
    """Of absolute paths only the last folder and the file: `…/ab/cab.py`; a home alone is `~`."""
    if "/" not in text and "\\" not in text and "torchinductor_" not in text:
        return text
    return _LONG_PATH.sub(r"…\1", _INDUCTOR.sub("torchinductor_…", _HOME.sub("~", text)))


def discreet(value: Value) -> Value:
    """The same value, whatever it is made of, with `without_places` in all its texts; what has none is itself."""
    found: Any = _discreet(value)
    return found  # type: ignore[no-any-return]


def _discreet(value: Any) -> Any:
    if type(value) is str:
        return without_places(value)
    if isinstance(value, tuple | list):
        return _members(value)
    if isinstance(value, dict):
        return {key: _discreet(member) for key, member in value.items()}
    if isinstance(value, msgspec.Struct):
        changed = _changed({name: getattr(value, name) for name in value.__struct_fields__})
        return msgspec.structs.replace(value, **changed) if changed else value
    if is_dataclass(value) and not isinstance(value, type):
        changed = _changed({field.name: getattr(value, field.name) for field in fields(value) if field.init})
        return replace(value, **changed) if changed else value
    return value


def _members(value: Any) -> Any:
    """Of thousands of samples the first one tells that there is nothing to say."""
    if not value or (isinstance(value[0], int | float) and not isinstance(value[0], Enum)):
        return value
    told = [_discreet(member) for member in value]
    if all(one is other for one, other in zip(told, value, strict=True)):
        return value
    return type(value)(*told) if hasattr(value, "_fields") else type(value)(told)


def _changed(held: dict[str, Any]) -> dict[str, Any]:
    told = {name: _discreet(member) for name, member in held.items()}
    return {name: member for name, member in told.items() if member is not held[name]}
