"""What a record says, as bytes to digest: fields at their defaults are left out, all the way down.

So a record keeps its identity when its type gets a field. A default that changes changes the identity of what relied on
it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import msgspec


def digest(*records: object) -> str:
    """SHA-256 of what the records say, in their order."""
    return hashlib.sha256(msgspec.json.encode([_said(record) for record in records], order="sorted")).hexdigest()


def _said(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        defaults = _defaults(type(value))
        said = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: _said(found) for name, found in said.items() if name not in defaults or found != defaults[name]}
    if isinstance(value, dict):
        return {key: _said(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_said(item) for item in value]
    return value


@cache
def _defaults(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Of the fields that have one."""
    return {
        field.name: field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        for field in msgspec.structs.fields(kind)
        if not field.required
    }
