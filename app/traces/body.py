"""What a comparison of traces shows: one trace by itself, or several beside a baseline."""

from __future__ import annotations

from collections.abc import Callable

from app.comparison.choice import Choice
from app.traces.several import several
from app.traces.single import single
from db.views import ComparisonView


def body(view: ComparisonView, choose: Callable[[], Choice], *, token: str | None = None) -> None:
    """`choose` draws the toolbar where it belongs."""
    if len(view.traces) == 1:
        single(view.traces[0], choose(), token=token)
    else:
        several(view, choose, token=token)
