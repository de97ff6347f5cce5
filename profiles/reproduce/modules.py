"""Our modules as text and syntax tree, found without importing them."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.marks import without_marks
from profiles.reproduce.rewriting import rewritten

OWN = "profiles"
NOTE_TO_LINTERS = re.compile(r"[ \t]+# noqa\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a class or an assignment of a module, with the comment right above it; `lines` count from 0."""

    module: str
    name: str
    node: ast.stmt
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What a name of a module stands for: `name` of `module`, or the module itself."""

    module: str
    name: str | None = None

    @property
    def is_own(self) -> bool:
        return self.module.partition(".")[0] == OWN


@dataclass(frozen=True, slots=True)
class Module:
    """`imports` by the names that they have in the text."""

    name: str
    definitions: Mapping[str, Definition]
    imports: Mapping[str, Imported]


@cache
def module(name: str) -> Module:
    """The module as a script writes it: without marks, in a script's words."""
    raw = NOTE_TO_LINTERS.sub("", source(name))
    imports = _imports(ast.parse(raw))
    aliases = {local: f"{one.module}.{one.name}" for local, one in imports.items() if _is_module(one)}
    result = rewritten(without_marks(raw), enumerations=_enumerations(name, imports), aliases=aliases)
    qualified = {name: Imported(module, name) for name, module in result.qualified.items()}
    return module_of(name, result.source, {**imports, **qualified})


def module_of(name: str, text: str, imports: Mapping[str, Imported]) -> Module:
    tree, lines = ast.parse(text), text.splitlines()
    found = [
        Definition(name, defined, node, (*_comment_above(lines, _first_line(node)), *_lines(lines, node)))
        for node in tree.body
        for defined in _defined(node)
    ]
    return Module(name, {one.name: one for one in found}, {**imports, **_imports(tree)})


def source(name: str) -> str:
    """ReproduceError where the module's text is not there, as in a package of bytecode alone."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise ReproduceError(f"the source of {name} is not installed; a script cannot be made without it")
    return Path(spec.origin).read_text(encoding="utf-8")


@cache
def enumerations(name: str) -> Mapping[str, Mapping[str, str]]:
    """The module's enumerations of texts: member → value."""
    return {
        node.name: {
            target.id: str(item.value.value)
            for item in node.body
            if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant)
            for target in item.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.parse(source(name)).body
        if isinstance(node, ast.ClassDef) and [ast.unparse(base) for base in node.bases] == ["StrEnum"]
    }


def _enumerations(name: str, imports: Mapping[str, Imported]) -> dict[str, Mapping[str, str]]:
    """Those that the module defines or imports, by the names that they have there."""
    found = dict(enumerations(name))
    for local, one in imports.items():
        if one.is_own and one.name is not None and not _is_module(one) and one.name in enumerations(one.module):
            found[local] = enumerations(one.module)[one.name]
    return found


def _is_module(imported: Imported) -> bool:
    if not imported.is_own or imported.name is None:
        return False
    package = importlib.util.find_spec(imported.module)
    where = package.submodule_search_locations if package is not None else None
    return any((Path(folder) / f"{imported.name}.py").is_file() for folder in where or ())


def _imports(tree: ast.Module) -> dict[str, Imported]:
    found: dict[str, Imported] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module != "__future__":
            found |= {alias.asname or alias.name: Imported(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0]: Imported(alias.name) for alias in node.names}
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _lines(lines: list[str], node: ast.stmt) -> list[str]:
    return lines[_first_line(node) : node.end_lineno]


def _comment_above(lines: list[str], first: int) -> list[str]:
    start = first
    while start > 0 and lines[start - 1].startswith("#"):
        start -= 1
    return lines[start:first]
