"""Numbers in doubt: underlined where they stand, and explained once in numbered notes under the table.

Other marks that need a reason share the notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


class Doubts:
    """Collects the notes of one table in the order of their marks; equal reasons share a number."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def mark(self, figure: str, reason: str | None) -> str:
        """`figure` as it is where there is no doubt, else underlined, with the note's number."""
        return self.mark_all(figure, () if reason is None else (reason,))

    def mark_all(self, figure: str, reasons: Sequence[str]) -> str:
        """The same for any number of reasons."""
        if not reasons:
            return figure
        numbers = ", ".join(str(self._number(reason)) for reason in reasons)
        title = escape(f"Doubtful: {'; '.join(reasons)}")
        return f'<span class="fs-doubt" title="{title}">{figure}</span><sup>{numbers}</sup>'

    def note(self, html: str, reason: str) -> str:
        """What is no doubt, but has a reason that hover alone would hide from touch."""
        return f'<span title="{escape(reason)}">{html}</span><sup>{self._number(reason)}</sup>'

    def _number(self, reason: str) -> int:
        if reason not in self._reasons:
            self._reasons.append(reason)
        return self._reasons.index(reason) + 1

    def notes(self) -> str:
        if not self._reasons:
            return ""
        items = "".join(f"<li>{escape(reason)}</li>" for reason in self._reasons)
        return f'<ol class="fs-notes" aria-label="Notes on the numbers">{items}</ol>'
