"""Values as a script writes them. What comes from a file is a stranger's word: no text of it may become code."""

from __future__ import annotations

import json
from collections.abc import Mapping

WIDTH = 120


def literal(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(str(value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(literal, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    assert value is None or isinstance(value, (bool, int, float)), "only plain values are written"
    return repr(value)


def assignment(name: str, value: Mapping[str, object] | object) -> str:
    """On one line, or a mapping's items on one each."""
    line = f"{name} = {literal(value)}"
    if len(line) <= WIDTH or not isinstance(value, Mapping):
        return line
    items = [f"    {literal(key)}: {literal(item)},\n" for key, item in value.items()]
    return f"{name} = {{\n{''.join(items)}}}"


def said(text: str) -> str:
    """For a docstring: one line, without anything that could end it or hide in it."""
    bare = text.replace("\\", "/").replace('"', "'")
    return " ".join("".join(c if c.isprintable() else " " for c in bare).split())
