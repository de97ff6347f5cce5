"""What stands below the kernel list: what its trace lacks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.markup import doubted, variant
from app.markup import Tone, badge
from profiles.comparison.recording import attribution_sentence, idle_doubt, idle_sentence
from profiles.recorded import Recorded
from profiles.results import Finding


def health_html(name: str, findings: Sequence[Finding], recorded: Recorded | None = None) -> str:
    """Why the GPU was idle in one run's trace, how its kernels were attributed, and the trace's findings, each with
    what they make doubtful."""
    told = [] if recorded is None else [doubted(idle_sentence(recorded), idle_doubt(findings))]
    if recorded is not None and (attributed := attribution_sentence(recorded)) is not None:
        told.append(escape(attributed))
    items = "".join(f"<li>{html}</li>" for html in (*told, *map(_finding, findings)))
    return f'<div class="fs fs-health"><b>Trace of {variant(name)}</b><ul>{items}</ul></div>'


def _finding(finding: Finding) -> str:
    times = f" ({finding.count:,})" if finding.count > 1 else ""
    doubtful = f" {badge('doubtful: ' + ', '.join(finding.doubtful), Tone.WARN)}" if finding.doubtful else ""
    return f"{escape(finding.message)}{times}{doubtful}"
