"""A sweep at a glance: one line per workload with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.markup import sentence
from app.markup import table
from profiles.comparison.answer import answer
from profiles.comparison.entry import Entry
from profiles.comparison.figures import workload_label
from profiles.comparison.judgement import Judged
from profiles.comparison.speed import By

HEAD = (("Workload", ""), ("Answer", "fs-wrap"))


def overview_html(grouped: Sequence[Sequence[Entry]], *, base: str | None, by: By, judged: Judged) -> str:
    return table(HEAD, (_row(group, base, by, judged) for group in grouped))


def _row(entries: Sequence[Entry], base: str | None, by: By, judged: Judged) -> str:
    said = sentence(answer(entries, base_key=base, by=by, judged=judged).parts)
    label = escape(workload_label(entries[0].workload))
    return f'<tr><th scope="row" class="fs-nowrap">{label}</th><td class="fs-wrap">{said}</td></tr>'
