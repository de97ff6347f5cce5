"""The fusion ledger: for each variant, which kernel covers which stages of the operation's maths.

A kernel that covers several stages spans their rows, so that what a fusion removed is what is missing beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby

from profiles import catalog
from profiles.comparison import figures
from profiles.comparison.entry import Entry
from profiles.comparison.roles import share, traced_ns
from profiles.results import KernelUse, Role, Run

MOST_BLOCKS_PER_STAGE = 3
MOST_LOOSE_BLOCKS = 9
COMFORTABLE = 5
MOST_ALIKE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One kernel, or several alike that would be too thin alone. `stages` counts the rows it spans; 0: not known.

    `mixed` blocks hold kernels of several roles and are drawn as unknown.
    """

    label: str
    names: tuple[str, ...]
    role: Role
    mixed: bool
    time_ns: int
    share: float
    calls: int
    stages: int

    @property
    def thin(self) -> bool:
        return self.role in (Role.COPY, Role.FILL) and not self.mixed


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Blocks over the stages `first` … `first + span - 1`; without blocks no kernel of its own covers them."""

    first: int
    span: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """`cells` tile the stages from top to bottom; `loose` are blocks whose stages the trace does not tell."""

    entry: Entry
    cells: tuple[Cell, ...]
    loose: tuple[Block, ...]
    total_ns: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """`alike` are entries left out because, like columns that are shown, one kernel covers all their stages."""

    stages: tuple[str, ...]
    columns: tuple[Column, ...]
    alike: tuple[Entry, ...] = ()


def ledger(entries: Sequence[Entry]) -> Ledger | None:
    """Of one section's entries with kernels, in the order given; None where there is nothing to lay out."""
    stages = catalog.operation(entries[0].workload.operation).stages if entries else ()
    columns = [_column(e, e.run, stages) for e in entries if e.run is not None and e.run.kernels]
    if not stages or not columns:
        return None
    fused = [column for column in columns if _is_one_kernel(column, stages)]
    alike = fused[MOST_ALIKE:] if len(columns) > COMFORTABLE else []
    shown = tuple(column for column in columns if column not in alike)
    return Ledger(stages, shown, tuple(column.entry for column in alike))


@dataclass(slots=True)
class _Group:
    """Uses whose stages overlap, directly or through another use."""

    first: int
    last: int
    uses: list[KernelUse] = field(default_factory=list)


def _column(entry: Entry, run: Run, stages: tuple[str, ...]) -> Column:
    whole = traced_ns(run)
    placed = [use for use in run.kernels if any(stage in stages for stage in use.stages)]
    loose = sorted((use for use in run.kernels if use not in placed), key=lambda use: use.position)
    return Column(
        entry=entry,
        cells=_cells(placed, stages, whole) if placed else (),
        loose=_blocks(loose, whole, stages=0, most=MOST_LOOSE_BLOCKS if not placed else 1),
        total_ns=whole,
    )


def _is_one_kernel(column: Column, stages: tuple[str, ...]) -> bool:
    cells = [cell for cell in column.cells if cell.blocks]
    return not column.loose and len(cells) == 1 and len(cells[0].blocks) == 1 and cells[0].span == len(stages)


def _cells(uses: Sequence[KernelUse], stages: tuple[str, ...], whole: int) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    reached = 0
    for group in _groups(uses, stages):
        cells += [Cell(first=row, span=1, blocks=()) for row in range(reached, group.first)]
        span = group.last - group.first + 1
        ordered = sorted(group.uses, key=lambda use: use.position)
        blocks = _blocks(ordered, whole, stages=span, most=MOST_BLOCKS_PER_STAGE * span)
        cells.append(Cell(first=group.first, span=span, blocks=blocks))
        reached = group.last + 1
    return (*cells, *(Cell(first=row, span=1, blocks=()) for row in range(reached, len(stages))))


def _groups(uses: Sequence[KernelUse], stages: tuple[str, ...]) -> list[_Group]:
    groups: list[_Group] = []
    for first, last, use in sorted(((*_extent(use, stages), use) for use in uses), key=lambda found: found[:2]):
        if groups and first <= groups[-1].last:
            groups[-1].last = max(groups[-1].last, last)
        else:
            groups.append(_Group(first, last))
        groups[-1].uses.append(use)
    return groups


def _extent(use: KernelUse, stages: tuple[str, ...]) -> tuple[int, int]:
    covered = [stages.index(stage) for stage in use.stages if stage in stages]
    return min(covered), max(covered)


def _blocks(uses: Sequence[KernelUse], whole: int, *, stages: int, most: int) -> tuple[Block, ...]:
    """One block for each use; neighbours of one role together where they are too many, then what lies between the
    longest ones."""
    groups = [[use] for use in uses]
    if len(groups) > most:
        groups = [list(alike) for _, alike in groupby(uses, key=lambda use: use.role)]
    if len(groups) > most:
        groups = _between_longest(groups, (most - 1) // 2)
    return tuple(_block(group, whole, stages) for group in groups)


def _between_longest(groups: list[list[KernelUse]], kept: int) -> list[list[KernelUse]]:
    """The `kept` longest groups alone, each stretch between them as one."""
    longest = sorted(groups, key=lambda group: sum(use.total_ns for use in group), reverse=True)[:kept]
    merged: list[list[KernelUse]] = []
    for alone, neighbours in groupby(groups, key=lambda group: group in longest):
        stretch = list(neighbours)
        merged += stretch if alone else [list(chain.from_iterable(stretch))]
    return merged


def _block(uses: Sequence[KernelUse], whole: int, stages: int) -> Block:
    time_ns, calls = sum(use.total_ns for use in uses), sum(use.calls for use in uses)
    roles = {use.role for use in uses}
    return Block(
        label=_label(uses, calls, roles),
        names=tuple(use.name for use in uses),
        role=uses[0].role,
        mixed=len(roles) > 1,
        time_ns=time_ns,
        share=share(time_ns, whole),
        calls=calls,
        stages=stages,
    )


def _label(uses: Sequence[KernelUse], calls: int, roles: set[Role]) -> str:
    if len(uses) > 1:
        return f"{calls:,} × {uses[0].role}" if len(roles) == 1 else figures.count(calls, "launch")
    return uses[0].short_name if calls == 1 else f"{calls:,} × {uses[0].short_name}"
