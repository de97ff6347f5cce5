"""Small pieces of HTML that the pages share. Everything that comes from outside is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from html import escape

from app.formatting import NOT_RECORDED
from profiles import catalog
from profiles.comparison.roles import RoleTime

RATIO = re.compile(r"\b\d[\d,.]*×")


class Tone(StrEnum):
    """What a badge says by its colour. A refusal is no error: it is idle."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    RUN = "run"
    IDLE = "idle"


def page(body: str) -> str:
    """The frame that gives figures their type and numbers their columns."""
    return f'<div class="fs">{body}</div>'


def badge(text: str, tone: Tone = Tone.IDLE) -> str:
    return f'<span class="fs-badge {tone}">{escape(text)}</span>'


def mono(name: str) -> str:
    return f"<code>{escape(name)}</code>"


def muted(text: str) -> str:
    return f'<span class="fs-muted">{escape(text)}</span>'


def tick(text: str) -> str:
    """What is normal is a tick and muted text, no badge."""
    return f'<span class="fs-nowrap"><span class="fs-tick" aria-hidden="true">✓</span> {muted(text)}</span>'


def link(text: str, href: str, *, plain: bool = False) -> str:
    return f'<a href="{escape(href)}" target="_self"{" class=fs-plain" if plain else ""}>{escape(text)}</a>'


def section(title: str, *, aside: str = "") -> str:
    """A section's heading; `aside` is HTML that stands on its baseline."""
    return page(f'<div class="fs-section"><h2>{escape(title)}</h2>{f"<span>{aside}</span>" if aside else ""}</div>')


def title(text: str, *, lead: str = "") -> str:
    return page(f"<h1>{escape(text)}</h1>" + (f'<p class="fs-lead">{escape(lead)}</p>' if lead else ""))


def prose(text: str) -> str:
    """Escaped; what stands between backticks is set in mono."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def answer(text: str | None) -> str:
    """A stored answer: the catalogue's variants in mono, the first ratio bold."""
    if text is None:
        return f'<span class="fs-faint" title="nothing is measured yet">{NOT_RECORDED}</span>'
    marked = _variant_pattern().sub(r"<code>\g<0></code>", escape(text, quote=False))
    return RATIO.sub(r"<b>\g<0></b>", marked, count=1)


def brief_answer(text: str | None) -> str:
    """A stored answer as a list shows it: its first clauses without the figures in brackets; whole on hover."""
    if text is None:
        return answer(None)
    return f'<span class="fs-brief" title="{escape(text)}">{answer(brief(text))}</span>'


def brief(text: str) -> str:
    return re.sub(r" \([^)]*\d[^)]*\)", "", text).partition("; ")[0].partition(". ")[0].rstrip(".")


def stack(segments: Sequence[RoleTime], *, width: float) -> str:
    """A bar of blocks in role colours, `width` percent wide; the blocks share it as their times do."""
    blocks = "".join(_block(segment) for segment in segments)
    return f'<div class="fs-stack" style="width:{width:.2f}%;min-width:12px">{blocks}</div>'


def table(head: Iterable[tuple[str, str]], rows: Iterable[str]) -> str:
    """`head` gives (title, class of the column); `rows` are whole `<tr>`s."""
    cells = "".join(f'<th scope="col" class="{css}">{escape(name)}</th>' for name, css in head)
    body = "".join(rows)
    return page(f'<div class="fs-scroll"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>')


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of (name, HTML) pairs."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in rows)
    return page(f'<dl class="fs-facts">{items}</dl>')


def _block(segment: RoleTime) -> str:
    label = f"{segment.label}, {segment.role}, {segment.share:.0%}"
    return f'<i class="fs-role-{segment.role}" style="flex:{segment.time_ns} 1 0" title="{escape(label)}"></i>'


@cache
def _variant_pattern() -> re.Pattern[str]:
    names = {str(variant) for operation in catalog.OPERATIONS for variant in catalog.variants(operation)}
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![\w@])(?:{'|'.join(map(re.escape, longest_first))})(?![\w@])")
