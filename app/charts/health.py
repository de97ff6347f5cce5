"""What stands beside the kernel list: first calls, and what a trace lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from app.charts.markup import key_box, variant
from app.markup import Tone, badge
from profiles.comparison.entry import Entry
from profiles.comparison.figures import digits, time_unit
from profiles.results import Finding

NS_PER_MS = 1e6


def first_calls_html(entries: Iterable[Entry]) -> str:
    """What a fresh process's first call costs beside a steady one; empty where none was measured."""
    rows = "".join(_first_call(entry) for entry in entries)
    if not rows:
        return ""
    title = '<div class="fs-section"><h2>First calls</h2><span>in a fresh process, never averaged in</span></div>'
    head = '<th>Variant</th><th class="num">First call<small>ms</small></th>'
    steady = '<th class="num">Steady calls<small>for the same time</small></th>'
    return f'<div class="fs">{title}<table><thead><tr>{head}{steady}</tr></thead><tbody>{rows}</tbody></table></div>'


def health_html(name: str, findings: Sequence[Finding]) -> str:
    """The findings of one run's trace, each with what they make doubtful."""
    items = "".join(f"<li>{_finding(finding)}</li>" for finding in findings)
    return f'<div class="fs fs-health"><b>Trace of {variant(name)}</b><ul>{items}</ul></div>'


def _first_call(entry: Entry) -> str:
    if entry.run is None or (first := entry.run.metric("first_call")) is None:
        return ""
    call = entry.run.metric("call_time")
    steady = f"{first.value / call.value:,.0f}" if call is not None and call.value else "–"
    name = f'<th scope="row">{key_box(entry.key)} {variant(entry.variant)}</th>'
    title = f"{time_unit(entry.workload).write(first.value)} {time_unit(entry.workload).symbol}"
    return (
        f'<tr>{name}<td class="num" title="{title}">{digits(first.value / NS_PER_MS)}</td>'
        f'<td class="num fs-muted">{steady}</td></tr>'
    )


def _finding(finding: Finding) -> str:
    times = f" ({finding.count:,})" if finding.count > 1 else ""
    doubtful = f" {badge('doubtful: ' + ', '.join(finding.doubtful), Tone.WARN)}" if finding.doubtful else ""
    return f"{escape(finding.message)}{times}{doubtful}"
