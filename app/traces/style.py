"""The stylesheet of comparisons of traces, beside that of the charts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SHEET = Path(__file__).parent / "traces.css"


@cache
def css() -> str:
    """The rules, without a `<style>` element."""
    return SHEET.read_text(encoding="utf-8")
