"""Why numbers of a whole recording are in doubt: its findings, numbered once for all figures of its page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from app.charts.doubts import Doubts
from app.markup import Tone, badge
from profiles.results import Finding
from profiles.trace.printable import printable
from profiles.trace.summary import TraceSummary

FIELDS = {
    "kernels": "kernels in all",
    "memcpy": "copies in all",
    "memset": "fills in all",
    "launches": "launches",
    "graph_launches": "graph launches",
    "steps.kernels": "kernels per step",
    "kernel_sum_ns": "kernel time",
    "kernel_busy_ns": "kernel busy",
    "gpu_busy_ns": "GPU busy",
    "gpu_span_ns": "span",
    "idle": "idle times",
    "timeline": "the timeline",
    "launched_before_window": "what was launched before",
    "linked_kernels": "kernels with their launch",
    "distinct_kernel_names": "kernel names",
}


def reasons(summary: TraceSummary, *fields: str) -> tuple[str, ...]:
    """The messages of the findings that make one of these fields doubtful."""
    wanted = set(fields)
    return tuple(printable(finding.message) for finding in summary.health if wanted & set(finding.doubtful))


class Findings(Doubts):
    """All findings have their number from the start; marks of figures name these, and other reasons follow them."""

    def __init__(self, summary: TraceSummary) -> None:
        super().__init__()
        self._summary = summary
        self._badges: dict[str, str] = {}
        for finding in summary.health:
            self._number(printable(finding.message))
            self._badges[printable(finding.message)] = _badge(finding)

    def figure(self, html: str, *fields: str) -> str:
        """Underlined where a finding makes one of these fields doubtful."""
        return self.mark_all(html, reasons(self._summary, *fields))

    def notes(self) -> str:
        items = "".join(f"<li>{escape(reason)} {self._badges.get(reason, '')}</li>" for reason in self._reasons)
        return f'<ol class="fs-notes" aria-label="Notes on the numbers">{items}</ol>' if items else ""


def _badge(finding: Finding) -> str:
    named = _named(finding.doubtful)
    return badge(f"in doubt: {', '.join(named)}", Tone.WARN) if named else ""


def _named(fields: Iterable[str]) -> list[str]:
    """Of the numbers that a whole recording has."""
    return [FIELDS[field] for field in FIELDS if field in set(fields)]
