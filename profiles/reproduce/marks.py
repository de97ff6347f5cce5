"""Source text without the marks of stages: outside a traced pass they do nothing."""

from __future__ import annotations

import ast
import textwrap

from profiles.reproduce.edits import Text

MARK, MARKING = "stage", "marking"


def without_marks(source: str) -> str:
    while (shorter := _without_one(source)) is not None:
        source = shorter
    return source


def _without_one(source: str) -> str | None:
    """None where there is no mark."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.With) and len(node.items) == 1 and _calls(node.items[0].context_expr, MARK):
            return _body_instead(source, node)
        if isinstance(node, ast.IfExp) and _only_while_marking(node.test):
            text = Text(source)
            return text.edited([text.replacing(node, text.of(node.orelse))])
    return None


def _body_instead(source: str, marked: ast.With) -> str:
    lines = source.splitlines(keepends=True)
    head_end = marked.items[0].context_expr.end_lineno
    assert head_end is not None
    assert marked.end_lineno is not None
    body = textwrap.dedent("".join(lines[head_end : marked.end_lineno]))
    indented = textwrap.indent(body, " " * marked.col_offset)
    return "".join([*lines[: marked.lineno - 1], indented, *lines[marked.end_lineno :]])


def _only_while_marking(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_only_while_marking(value) for value in test.values)
    return _calls(test, MARKING)


def _calls(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
