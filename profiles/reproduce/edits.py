"""Edits of source text at the places that its syntax tree names, so that layout and comments stay as written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

COMMA_AFTER = re.compile(rb"\s*,\s*")
COMMA_BEFORE = re.compile(rb",\s*\Z")


class Edit(NamedTuple):
    """Bytes of the UTF-8 text, as the syntax tree counts them, and what takes their place."""

    start: int
    end: int
    text: str


class Text:
    """Source text, with its positions as offsets in bytes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._bytes = source.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def span(self, node: ast.expr | ast.arg | ast.keyword | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._lines[node.lineno - 1] + node.col_offset,
            self._lines[node.end_lineno - 1] + node.end_col_offset,
        )

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.between(start, end)

    def between(self, start: int, end: int) -> str:
        return self._bytes[start:end].decode()

    def replacing(self, node: ast.expr, text: str) -> Edit:
        return Edit(*self.span(node), text)

    def removing(self, node: ast.expr | ast.arg | ast.keyword) -> Edit:
        """An item of a list, with the comma behind it, or the one before where it is the last."""
        start, end = self.span(node)
        if after := COMMA_AFTER.match(self._bytes, end):
            return Edit(start, after.end(), "")
        before = COMMA_BEFORE.search(self._bytes[:start])
        return Edit(before.start() if before else start, end, "")

    def edited(self, edits: Iterable[Edit]) -> str:
        result = self._bytes
        for edit in sorted(set(edits), reverse=True):
            result = result[: edit.start] + edit.text.encode() + result[edit.end :]
        return result.decode()
