"""A window on a stream of JSON text: finds where values end without building them, and cuts lists into items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from profiles.trace.errors import TraceTooLarge, UnreadableTrace

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<closed>")?+|[\[\]{}]', re.DOTALL)
_SCALAR_END = re.compile(rb"[,\]}\s]")
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_CUT = b"},"
_CUT_TRIES = 32
_MOST_PENDING = 64 << 20


class Span(NamedTuple):
    start: int
    end: int


class JsonWindow:
    """`text[at:]` is what has been read of the stream and not been taken; `offset` counts the bytes before `text`."""

    def __init__(self, blocks: Iterator[bytes], *, max_nesting: int) -> None:
        self.text = b""
        self.at = 0
        self.offset = 0
        self._blocks = blocks
        self._max_nesting = max_nesting

    @property
    def place(self) -> int:
        return self.offset + self.at

    def grow(self) -> bool:
        """Read on, at least as much as is there already, so that long values cost no quadratic time."""
        self.text, self.offset, self.at = self.text[self.at :], self.offset + self.at, 0
        if len(self.text) > _MOST_PENDING:
            raise TraceTooLarge(f"the value that begins at byte {self.offset:,} is longer than {_MOST_PENDING:,} bytes")
        parts = [self.text]
        wanted = max(len(self.text), 1)
        for block in self._blocks:
            parts.append(block)
            wanted -= len(block)
            if wanted <= 0:
                break
        self.text = b"".join(parts)
        return len(parts) > 1

    def peek(self) -> bytes:
        """The next byte that is not white space, and move to it; empty at the end."""
        while True:
            found = _NOT_SPACE.search(self.text, self.at)
            if found:
                self.at = found.start()
                return found[0]
            self.at = len(self.text)
            if not self.grow():
                return b""

    def take(self, expected: bytes) -> None:
        found = self.peek()
        if found != expected:
            raise UnreadableTrace(f"expected {expected.decode()!r} at byte {self.place:,}, found {_shown(found)}")
        self.at += 1

    def take_value(self) -> bytes:
        """The text of the whole value that begins here."""
        self.peek()
        while True:
            end = self._value_end(self.at)
            if end is not None:
                value = self.text[self.at : end]
                self.at = end
                return value
            if not self.grow():
                raise UnreadableTrace(f"truncated: the value that begins at byte {self.place:,} has no end")

    def cut(self) -> Span | None:
        """A long run of whole list items by a guess that is cheap: it ends where an object ends, a comma follows and
        another object begins. It is right if it decodes as a list: text cut inside an item never does."""
        end = len(self.text)
        for _ in range(_CUT_TRIES):
            end = self.text.rfind(_CUT, self.at, end)
            if end < 0:
                return None
            following = _NOT_SPACE.search(self.text, end + 2)
            if following and following[0] == b"{":
                return Span(self.at, end + 1)
        return None

    def items(self) -> Iterator[Span]:
        """The whole items of the list from here on, found exactly; each is taken when the next is asked for.

        Stops before the list's end, or where the text read so far ends inside an item.
        """
        while self._next_item():
            end = self._value_end(self.at)
            if end is None:
                return
            span = Span(self.at, end)
            yield span
            self.at = end

    def _next_item(self) -> bool:
        found = _NOT_SPACE.search(self.text, self.at)
        while found and found[0] == b",":
            self.at = found.end()
            found = _NOT_SPACE.search(self.text, self.at)
        self.at = found.start() if found else len(self.text)
        return found is not None and found[0] != b"]"

    def _value_end(self, start: int) -> int | None:
        """Where the value that begins at `start` ends; None when the text read so far does not hold its end."""
        first = self.text[start : start + 1]
        if first not in (b"{", b"[", b'"'):
            found = _SCALAR_END.search(self.text, start)
            return found.start() if found and found.start() > start else None
        depth = 0
        for token in _TOKEN.finditer(self.text, start):
            text = token[0]
            if text in (b"{", b"["):
                depth += 1
                if depth > self._max_nesting:
                    raise TraceTooLarge(
                        f"nested deeper than {self._max_nesting} at byte {self.offset + token.start():,}"
                    )
            elif text in (b"}", b"]"):
                depth -= 1
            elif not token["closed"]:
                return None
            if depth <= 0:
                return token.end()
        return None


def _shown(found: bytes) -> str:
    return repr(found.decode("ascii", "replace")) if found else "the end of the file"
