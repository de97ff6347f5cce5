"""What a share link keeps to itself: under whose account a file lay, in messages, receipts and code; and one that shows
no hosts: where any file lay, and on which machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

import msgspec

Value = TypeVar("Value")

_NAME = r"[^/\\\s'\"`:;,()<>|=]+"
_HOME = re.compile(rf"(?<![\w.])(?:/home/{_NAME}|/Users/{_NAME}|/root(?![\w.-])|[A-Za-z]:\\Users\\{_NAME})")
_INDUCTOR = re.compile(rf"torchinductor_{_NAME}")  # inductor's folder, which it names after the user
_LONG_PATH = re.compile(rf"(?:~|(?<![\w.)\]:/~]))(?:/{_NAME})+((?:/{_NAME}){{2}})")

_FOLDERS = re.compile(rf"(?:[~…]|(?<!\w)[A-Za-z]:|(?<![\w.)\]:/~…]))(?:/{_NAME})*/({_NAME})")
_FOLDERS_OF_WINDOWS = re.compile(rf"(?:[~…]|(?<!\w)[A-Za-z]:|(?<!\\)\\)\\(?:{_NAME}\\)*({_NAME})")
_LINE = re.compile(r"\A\s*(?:[~…]|[A-Za-z]:)?[/\\].*[/\\]([^/\\]+\(\d+\): )", re.DOTALL)  # folders may have spaces
_AUTHORITY = re.compile(r"(?<=://)[^/\s]+")
# Torch's own file names: `host_pid.time.pt.trace.json`, no longer than a file system takes.
_RECORDER = re.compile(r"(?<![\w.-])[\w.-]{1,255}?(?=_\d{1,20}\.\d{1,20}\.pt\.trace\.json)")


def without_places(text: str) -> str:
    """Of absolute paths only the last folder and the file: `…/ab/cab.py`; a home alone is `~`."""
    if "/" not in text and "\\" not in text and "torchinductor_" not in text:
        return text
    return _LONG_PATH.sub(r"…\1", _INDUCTOR.sub("torchinductor_…", _HOME.sub("~", text)))


def without_machine(text: str, hosts: Sequence[str] = ()) -> str:
    """Of absolute paths the file alone, of addresses no host, and none of `hosts` where it stands as a word. Relative
    paths stay: they begin with a package. The line of a file stays too: `…/net.py(40): forward`."""
    if any(mark in text for mark in "/\\"):
        text = _AUTHORITY.sub("…", _LINE.sub(r"…/\1", without_places(text)))
        text = _FOLDERS_OF_WINDOWS.sub(r"…\\\1", _FOLDERS.sub(r"…/\1", text))
    if ".pt.trace.json" in text:
        text = _RECORDER.sub("…", text)
    for host in hosts:
        if host.lower() in text.lower():
            text = re.sub(rf"(?<!\w){re.escape(host)}(?!\w)", "…", text, flags=re.IGNORECASE)
    return text


def discreet(value: Value, tell: Callable[[str], str] = without_places) -> Value:
    """The same value, whatever it is made of, with `tell` in all its texts; what has none is itself."""
    found: Any = _discreet(value, tell)
    return found  # type: ignore[no-any-return]


def _discreet(value: Any, tell: Callable[[str], str]) -> Any:
    if type(value) is str:
        told = tell(value)
        return value if told == value else told
    if isinstance(value, tuple | list):
        return _members(value, tell)
    if isinstance(value, dict):
        return {key: _discreet(member, tell) for key, member in value.items()}
    if isinstance(value, msgspec.Struct):
        changed = _changed({name: getattr(value, name) for name in value.__struct_fields__}, tell)
        return msgspec.structs.replace(value, **changed) if changed else value
    if is_dataclass(value) and not isinstance(value, type):
        changed = _changed({field.name: getattr(value, field.name) for field in fields(value) if field.init}, tell)
        return replace(value, **changed) if changed else value
    return value


def _members(value: Any, tell: Callable[[str], str]) -> Any:
    """Of thousands of samples the first one tells that there is nothing to say."""
    if not value or (isinstance(value[0], int | float) and not isinstance(value[0], Enum)):
        return value
    told = [_discreet(member, tell) for member in value]
    if all(one is other for one, other in zip(told, value, strict=True)):
        return value
    return type(value)(*told) if hasattr(value, "_fields") else type(value)(told)


def _changed(held: dict[str, Any], tell: Callable[[str], str]) -> dict[str, Any]:
    told = {name: _discreet(member, tell) for name, member in held.items()}
    return {name: member for name, member in told.items() if member is not held[name]}
