"""The fusion ledger as a grid: stages down, variants across, a fused kernel over all rows that it covers."""

from __future__ import annotations

from html import escape

from app.charts.markup import doubted, full_name, key_box, variant
from profiles.comparison.change import counted
from profiles.comparison.figures import whole_percent, whole_time
from profiles.comparison.ledger import Block, Cell, Column, Ledger
from profiles.comparison.recording import counts_doubt, times_doubt

NARROW = 6


def ledger_html(ledger: Ledger, *, base_key: str | None, on_cpu: bool = False) -> str:
    """Scrolls sideways where it is wider than its place."""
    gutter = "".join(
        f'<div class="fs-ledger-stage" style="grid-row:{row + 2}">{escape(stage)}</div>'
        for row, stage in enumerate(ledger.stages)
    )
    columns = "".join(
        _column(column, position + 2, len(ledger.stages), filled=column.entry.key == base_key)
        for position, column in enumerate(ledger.columns)
    )
    subtitle = f"each block is {'an operator' if on_cpu else 'a kernel'} over the stages that it covers"
    title = f'<div class="fs-section"><h2>Fusion ledger</h2><span>{subtitle}</span></div>'
    shape = f"--columns:{len(ledger.columns)};--stages:{len(ledger.stages)}"
    tight = " tight" if len(ledger.columns) > NARROW else ""
    grid = f'<div class="fs-ledger{tight}" style="{shape}">{gutter}{columns}</div>'
    alike = _alike(ledger, "operator" if on_cpu else "kernel")
    return f'<div class="fs">{title}<div class="fs-scroll">{grid}</div>{alike}</div>'


def _alike(ledger: Ledger, noun: str) -> str:
    if not ledger.alike:
        return ""
    names = ", ".join(f"{key_box(entry.key)}{variant(entry.variant)}" for entry in ledger.alike)
    return f'<p class="fs-alike">Also one {noun} over all stages: {names}</p>'


def _column(column: Column, position: int, stages: int, *, filled: bool) -> str:
    entry = column.entry
    head = (
        f'<div class="fs-ledger-head" style="grid-column:{position};grid-row:1">'
        f"{key_box(entry.key, filled=filled)} {variant(entry.variant)}</div>"
    )
    cells = "".join(_cell(cell, position) for cell in column.cells)
    loose = _loose(column, position, stages)
    foot = (
        f'<div class="fs-ledger-foot" style="grid-column:{position};grid-row:{stages + 3}">'
        f"<b>{_time(column)}</b><span>{_counts(column)}</span></div>"
    )
    return head + cells + loose + foot


def _cell(cell: Cell, position: int) -> str:
    place = f"grid-column:{position};grid-row:{cell.first + 2}/span {cell.span}"
    if not cell.blocks:
        title = "no kernel of its own: another one does it, or it is not needed"
        return f'<div class="fs-ledger-cell none" style="{place}" title="{title}"></div>'
    crowded = len(cell.blocks) > cell.span
    return f'<div class="fs-ledger-cell" style="{place}">{"".join(_block(b, crowded) for b in cell.blocks)}</div>'


def _loose(column: Column, position: int, stages: int) -> str:
    """Blocks without a stage: over all rows where nothing is placed, else in a row of their own under the stages."""
    if not column.loose:
        return ""
    rows = f"{stages + 2}" if column.cells else f"2/span {stages}"
    blocks = "".join(_block(block, len(column.loose) > stages) for block in column.loose)
    return f'<div class="fs-ledger-cell loose" style="grid-column:{position};grid-row:{rows}">{blocks}</div>'


def _block(block: Block, crowded: bool) -> str:
    role = "other" if block.mixed else str(block.role)
    thin = " thin" if block.thin or crowded else ""
    unplaced = " unplaced" if block.stages == 0 else ""
    figures = whole_time(block.time_ns) if thin else f"{whole_time(block.time_ns)} · {whole_percent(block.share)}"
    fused = f"<span>{block.stages} stages in one</span>" if block.stages > 1 and not thin else ""
    where = "stage not recorded; " if block.stages == 0 else ""
    names = "; ".join(full_name(name) for name in block.names)
    title = f"{where}{names}: {whole_time(block.time_ns)}, {escape(whole_percent(block.share))}"
    return (
        f'<div class="fs-ledger-block fs-role-{role}{thin}{unplaced}" title="{title}">'
        f"<em>{escape(block.label)}</em><span>{escape(figures)}</span>{fused}</div>"
    )


def _counts(column: Column) -> str:
    """Marked where the trace puts them in doubt; the table and the health of the trace tell why in full."""
    run = column.entry.run
    if run is None or run.counts is None:
        return ""
    return doubted(", ".join(counted(run.counts)), counts_doubt(run))


def _time(column: Column) -> str:
    run = column.entry.run
    return doubted(whole_time(column.total_ns), times_doubt(run) if run is not None else None)
