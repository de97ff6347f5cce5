"""How high a table that is drawn on a canvas has to be, so that all of its rows fit and no more."""

from __future__ import annotations

ROW_PX = 35
HEAD_PX = 32
EDGES_PX = 2


def height(rows: int) -> int:
    return HEAD_PX + ROW_PX * rows + EDGES_PX
