"""The sentence that answers, and the caveat under it."""

from __future__ import annotations

from html import escape

from app.charts.markup import sentence
from profiles.comparison.answer import Answer
from profiles.comparison.caveat import Caveat


def answer_html(answer: Answer, caveat: Caveat | None = None) -> str:
    return f'<div class="fs"><p class="fs-answer">{sentence(answer.parts)}</p>{_caveat(caveat)}</div>'


def _caveat(caveat: Caveat | None) -> str:
    if caveat is None:
        return ""
    label = f"<b>▲ {escape(caveat.label)}</b>"
    return f'<p class="fs-caveat" role="note">{label} <span>{sentence(caveat.parts)}</span></p>'
