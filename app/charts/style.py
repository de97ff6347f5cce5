"""The charts' own stylesheet; tokens, badges and table basics come from the theme's."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SHEET = Path(__file__).parent / "charts.css"


@cache
def css() -> str:
    """The rules, without a `<style>` element."""
    return SHEET.read_text(encoding="utf-8")
