"""What stands below the kernel list: what its trace lacks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.charts.markup import variant
from app.markup import Tone, badge
from profiles.results import Finding


def health_html(name: str, findings: Sequence[Finding]) -> str:
    """The findings of one run's trace, each with what they make doubtful."""
    items = "".join(f"<li>{_finding(finding)}</li>" for finding in findings)
    return f'<div class="fs fs-health"><b>Trace of {variant(name)}</b><ul>{items}</ul></div>'


def _finding(finding: Finding) -> str:
    times = f" ({finding.count:,})" if finding.count > 1 else ""
    doubtful = f" {badge('doubtful: ' + ', '.join(finding.doubtful), Tone.WARN)}" if finding.doubtful else ""
    return f"{escape(finding.message)}{times}{doubtful}"
