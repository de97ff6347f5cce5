"""Which names of its module a definition uses, and which of them already when it is defined."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

BUILTINS = frozenset(dir(builtins))


def names(text: str) -> set[str]:
    """Names that are looked up in the module when the text is defined, called or read as a type."""
    tree = ast.parse(text)
    found = {
        node.id for annotation in _annotations(tree) for node in ast.walk(annotation) if isinstance(node, ast.Name)
    }
    table = symtable.symtable(text, "definition", "exec")
    found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    for scope in _scopes(table):
        found |= {s.get_name() for s in scope.get_symbols() if s.is_global() and s.is_referenced()}
    return found - BUILTINS


def names_at_once(text: str) -> set[str]:
    """Those that must be defined before: bases, decorators, defaults, and whatever an assignment reads."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            parts: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.ClassDef):
            values = [item.value for item in node.body if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value]
            parts = [*node.decorator_list, *node.bases, *values]
        else:
            parts = [node]
        found |= {name.id for part in parts for name in ast.walk(part) if isinstance(name, ast.Name)}
    return found


def attributes(text: str) -> set[str]:
    return {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}


def _annotations(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)
