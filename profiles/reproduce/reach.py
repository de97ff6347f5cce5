"""What a definition needs: every other definition of ours that it reaches, and of classes only the methods in use."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.modules import Definition, Imported, Module
from profiles.reproduce.names import attributes, names

Find = Callable[[str], Module]


@dataclass(frozen=True, slots=True)
class Part:
    """A definition as the script has it; `needs` are the parts and `imports` the libraries' names that it uses."""

    definition: Definition
    text: str
    needs: tuple[Definition, ...]
    imports: dict[str, Imported]


def reached(roots: Sequence[Definition], find: Find) -> dict[Definition, Part]:
    """In the order of a walk from the roots, each before what it needs.

    A method counts as used when any reached text names an attribute like it, so the walk is repeated until no more
    methods come in.
    """
    used: set[str] = set()
    while True:
        parts = _walk(roots, find, used)
        more = {name for part in parts.values() for name in attributes(part.text)}
        if more == used:
            return parts
        used = more


def _walk(roots: Sequence[Definition], find: Find, used: set[str]) -> dict[Definition, Part]:
    parts: dict[Definition, Part] = {}
    waiting = list(reversed(roots))
    while waiting:
        definition = waiting.pop()
        if definition not in parts:
            parts[definition] = part = _part(definition, find, used)
            waiting += reversed(part.needs)
    return parts


def _part(definition: Definition, find: Find, used: set[str]) -> Part:
    text = "\n".join(_without_unused_methods(definition, used))
    needs: list[Definition] = []
    imports: dict[str, Imported] = {}
    for name in sorted(names(text), key=text.find):
        found = _resolve(name, find(definition.module), find)
        if isinstance(found, Imported):
            imports[name] = found
        elif found is not None and found is not definition:
            needs.append(found)
    return Part(definition, text, tuple(needs), imports)


def _resolve(name: str, module: Module, find: Find) -> Definition | Imported | None:
    """None for what the module itself does not know: names of the interpreter such as `__name__`."""
    imported = module.imports.get(name)
    if imported is not None and name in module.definitions:
        raise ReproduceError(f"{module.name} uses two things named {name!r}; a script has room for one")
    if imported is None or not imported.is_own:
        return module.definitions.get(name) or imported
    origin = find(imported.module)
    if imported.name is None or imported.name not in {**origin.definitions, **origin.imports}:
        raise ReproduceError(f"{module.name} uses {name!r} of {imported.module}, which is no plain definition there")
    return _resolve(imported.name, origin, find)


def _without_unused_methods(definition: Definition, used: set[str]) -> Iterator[str]:
    node = definition.node
    offset = len(definition.lines) - _length(node)
    dropped: set[int] = set()
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.FunctionDef) and item.name not in used and not item.name.startswith("__"):
            first = _first(item) - _first(node) + offset
            last = (item.end_lineno or item.lineno) - _first(node) + offset
            dropped |= set(range(first, last + 1))
            while not definition.lines[first - 1].strip():
                first -= 1
                dropped.add(first)
    return (line for number, line in enumerate(definition.lines) if number not in dropped)


def _first(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - _first(node) + 1
