"""The small pieces that all charts are made of. Whatever comes from a file or a person is escaped here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from profiles.comparison.parts import Kind, Part
from profiles.results import Role
from profiles.trace.printable import printable

NOT_RECORDED = "–"
ZERO = '<span class="fs-faint">0</span>'
"""None of something, fainter than what there is."""
LONGEST_NAME = 4_000
PATH_START, PATH_END = 24, 47  # characters of a path that stay when its middle goes
TAGS = {Kind.MONO: ("<code>", "</code>"), Kind.STRONG: ("<strong>", "</strong>"), Kind.MUTED: ("<small>", "</small>")}


def sentence(parts: Iterable[Part]) -> str:
    return "".join(_part(part) for part in parts)


def key_box(key: str, *, filled: bool = False) -> str:
    """The letter of a variant; filled for the baseline."""
    return f'<span class="fs-key{" base" if filled else ""}">{escape(key)}</span>'


def empty_key() -> str:
    return '<span class="fs-key empty">–</span>'


def variant(name: str) -> str:
    """A variant's name, its execution fainter than its implementation."""
    implementation, at, execution = name.partition("@")
    suffix = f' <span class="fs-muted">{escape(at + execution)}</span>' if at else ""
    return f'<code class="fs-name">{escape(implementation)}{suffix}</code>'


def swatch(role: Role) -> str:
    return f'<i class="fs-swatch fs-role-{role}"></i>'


def missing(reason: str) -> str:
    """The dash for what is not recorded; never a zero."""
    return f'<span class="fs-faint" title="{escape(reason)}">{NOT_RECORDED}</span>'


def full_name(name: str) -> str:
    """A kernel's whole name, for a title or a fold: hidden characters as escapes, cut where nobody reads on."""
    text = printable(name[:LONGEST_NAME])
    rest = len(name) - LONGEST_NAME
    return escape(text if rest <= 0 else f"{text}… ({rest:,} more characters)")


def cut_in_the_middle(path: str) -> str:
    """A long path without its middle, whole on hover: what tells it apart stands at its end."""
    if len(path) <= PATH_START + PATH_END + 1:
        return full_name(path)
    start, end = printable(path[:PATH_START]), printable(path[-PATH_END:])
    return f'<span title="{full_name(path)}">{escape(start)}…{escape(end)}</span>'


def doubted(figure: str, reason: str | None) -> str:
    """Underlined where there is a reason for doubt, which stands in full elsewhere on the page."""
    if reason is None:
        return escape(figure)
    return f'<span class="fs-doubt" title="{escape(f"Doubtful: {reason}")}">{escape(figure)}</span>'


def titled(html: str, title: str) -> str:
    return f'<span title="{escape(title)}">{html}</span>'


def _part(part: Part) -> str:
    before, after = TAGS.get(part.kind, ("", ""))
    return f"{before}{escape(part.text)}{after}"
