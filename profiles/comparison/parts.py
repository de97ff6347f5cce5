"""Sentences in parts, so that one text becomes HTML on a page and plain text in a list or a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """`mono`: a name that is typed or matched; `strong`: the figure that answers; `muted`: what stands beside it."""

    TEXT = "text"
    MONO = "mono"
    STRONG = "strong"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    kind: Kind = Kind.TEXT


def text(words: str) -> Part:
    return Part(words)


def mono(name: str) -> Part:
    return Part(name, Kind.MONO)


def strong(figure: str) -> Part:
    return Part(figure, Kind.STRONG)


def muted(aside: str) -> Part:
    return Part(aside, Kind.MUTED)


def plain(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)


def names(variants: list[str] | tuple[str, ...]) -> tuple[Part, ...]:
    """`a`, `b` and `c`."""
    parts: list[Part] = []
    for position, variant in enumerate(variants):
        if position:
            parts.append(text(" and " if position == len(variants) - 1 else ", "))
        parts.append(mono(variant))
    return tuple(parts)
