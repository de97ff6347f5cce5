"""Parts as one file: imports merged at the top, each section's definitions in an order that runs and reads well."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.modules import Definition, Imported
from profiles.reproduce.names import names_at_once
from profiles.reproduce.reach import Part

WIDTH = 120

Parts = Mapping[Definition, Part]


class Kind(IntEnum):
    """Of a definition, in the order of a section. `made`: by calling a function, as it is defined."""

    CONSTANT = 0
    CLASS = 1
    FUNCTION = 2
    MADE = 3


def imports(parts: Iterable[Part]) -> str:
    """The standard library first, then the rest, each sorted."""
    found: dict[str, Imported] = {}
    for part in parts:
        for name, imported in part.imports.items():
            if found.setdefault(name, imported) != imported:
                raise ReproduceError(f"{name!r} is imported from two places; a script has room for one")
    plain = {_plain(name, one): one.module for name, one in found.items() if one.name is None}
    from_modules: dict[str, list[str]] = {}
    for name, one in found.items():
        if one.name is not None:
            from_modules.setdefault(one.module, []).append(one.name if one.name == name else f"{one.name} as {name}")
    lines = [*((line, module) for line, module in plain.items()), *((_from(m, n), m) for m, n in from_modules.items())]
    groups: tuple[list[str], list[str]] = ([], [])
    for line, module in sorted(lines, key=lambda pair: (pair[0].startswith("from"), pair[1])):
        groups[module.partition(".")[0] not in sys.stdlib_module_names].append(line)
    return "\n\n".join("\n".join(group) for group in groups if group)


def ordered(roots: Sequence[Definition], parts: Parts, done: set[Definition]) -> list[Definition]:
    """What the roots reach and is not `done` yet, by kind, functions from the top down."""
    result: list[Definition] = []
    for definition in sorted(_reached(roots, parts, done), key=lambda one: _kind(parts[one])):
        _place(definition, parts, done, result)
    return result


def joined(definitions: Iterable[Definition], parts: Parts) -> str:
    """Two blank lines around functions and classes, none between assignments of one line."""
    text, before = "", False
    for definition in definitions:
        one_line = "\n" not in parts[definition].text and _kind(parts[definition]) is Kind.CONSTANT
        text += ("" if not text else "\n" if one_line and before else "\n\n\n") + parts[definition].text
        before = one_line
    return text


def _plain(name: str, imported: Imported) -> str:
    whole = imported.module.partition(".")[0] == name
    return f"import {imported.module}" if whole else f"import {imported.module} as {name}"


def _from(module: str, names: Sequence[str]) -> str:
    listed = sorted(names, key=lambda name: (not name.isupper(), not name[:1].isupper(), name))
    line = f"from {module} import {', '.join(listed)}"
    return line if len(line) <= WIDTH else "\n".join([f"from {module} import (", *(f"    {n}," for n in listed), ")"])


def _reached(roots: Sequence[Definition], parts: Parts, done: set[Definition]) -> list[Definition]:
    found: dict[Definition, None] = {}
    waiting = list(reversed(roots))
    while waiting:
        definition = waiting.pop()
        if definition not in found and definition not in done:
            found[definition] = None
            waiting += reversed(parts[definition].needs)
    return list(found)


def _place(definition: Definition, parts: Parts, done: set[Definition], result: list[Definition]) -> None:
    """What the definition needs while it is being defined goes before it."""
    if definition in done:
        return
    done.add(definition)
    at_once = names_at_once(parts[definition].text)
    for need in parts[definition].needs:
        if need.name in at_once:
            _place(need, parts, done, result)
    result.append(definition)


def _kind(part: Part) -> Kind:
    if isinstance(part.definition.node, ast.FunctionDef):
        return Kind.FUNCTION
    if isinstance(part.definition.node, ast.ClassDef):
        return Kind.CLASS
    at_once = names_at_once(part.text)
    calls = any(need.name in at_once and isinstance(need.node, ast.FunctionDef) for need in part.needs)
    return Kind.MADE if calls else Kind.CONSTANT
