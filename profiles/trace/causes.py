"""Why each GPU slice was launched: the operator, the nn.Module and the line of code around its launch.

Where graphs replay kernels, or passes were recorded without their Python, the same kernels of an uncaptured pass
tell it instead: such causes are inferred.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from profiles.trace.around import Around, around_launches
from profiles.trace.counterparts import Counterparts, find_counterparts
from profiles.trace.distinct import distinct
from profiles.trace.launches import CallKind, Launches
from profiles.trace.model import ABSENT, Bools, Int64s, Trace

_LONGEST = 1_000  # characters of an operator: thousands of causes may have the same


class Cause(NamedTuple):
    """`operator` is the innermost, `module` the path `Bert_0 > BertLayer_3 > Linear_0` (or as the recording names it),
    `source` the user's innermost line: `path/file.py(123): function`. None is not told. Where `inferred`, what an
    uncaptured pass of the same kernels has told stands here."""

    operator: str | None = None
    module: str | None = None
    source: str | None = None
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Causes:
    """`of_row` has each slice's place in `table`, whose first is the empty cause. GPU slices have the cause of their
    launch, launching calls and operators their own. `call_of` is the place in `call_names` of the call that launched a
    slice, ABSENT for none."""

    table: tuple[Cause, ...]
    of_row: Int64s
    call_names: tuple[str, ...]
    call_of: Int64s

    def of(self, rows: Int64s) -> NamedCauses:
        """Of these slices together; equally frequent ones in their order."""
        places, first, counts = np.unique(self.of_row[rows], return_index=True, return_counts=True)
        order = np.argsort(first)
        found = _named(Counter({self.table[places[at]]: int(counts[at]) for at in order.tolist()}))
        return found._replace(calls=self._calls(np.zeros(len(rows), np.int64), rows).get(0, ()))

    def _calls(self, group: Int64s, rows: Int64s) -> dict[int, tuple[str, ...]]:
        """The calls that launched the rows of each group."""
        known = self.call_of[rows] != ABSENT
        group, called = group[known], self.call_of[rows[known]]
        pairs = distinct(group, called)
        frequent = pairs.first[np.argsort(-pairs.counts, kind="stable")]
        found: dict[int, list[str]] = defaultdict(list)
        for number, call in zip(group[frequent].tolist(), called[frequent].tolist(), strict=True):
            found[number].append(self.call_names[call])
        return {number: tuple(names) for number, names in found.items()}

    def by_name(self, trace: Trace, rows: Int64s) -> dict[str, NamedCauses]:
        """Of the GPU slices `rows`, what each name was caused by."""
        counted: dict[int, Counter[Cause]] = defaultdict(Counter)
        names, causes = trace.slices.name[rows], self.of_row[rows]
        pairs = distinct(names, causes)
        order = np.argsort(pairs.first)
        columns = (names[pairs.first[order]], causes[pairs.first[order]], pairs.counts[order])
        for name, cause, count in zip(*(column.tolist() for column in columns), strict=True):
            counted[name][self.table[cause]] += count
        calls = self._calls(names, rows)
        return {trace.names[name]: _named(found)._replace(calls=calls.get(name, ())) for name, found in counted.items()}


class NamedCauses(NamedTuple):
    """The most frequent first; `inferred` of the slices have an inferred cause. `calls` are the names of those that
    launched them."""

    operators: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    inferred: int = 0
    calls: tuple[str, ...] = ()


def find_causes(trace: Trace, launches: Launches) -> Causes:
    columns, nodes = around_launches(trace, launches)
    inferred = _with_inferred(trace, launches, columns, find_counterparts(trace, launches))
    used = np.flatnonzero(np.logical_or.reduce([column != ABSENT for column in columns]))
    told = [column[used] for column in (*columns, inferred.astype(np.int64))]
    different = distinct(*told)
    of_row = np.zeros(len(trace.slices), np.int64)
    of_row[used] = different.which + 1
    numbers = zip(*(column[different.first].tolist() for column in told), strict=True)
    path = cache(nodes.path)
    table = (Cause(), *(_cause(trace, found, path) for found in numbers))
    launched = launches.call_of != ABSENT
    call_of = np.full(len(trace.slices), ABSENT, np.int64)
    call_of[launched] = trace.slices.name[launches.call_of[launched]]
    return Causes(table, of_row, trace.names, call_of)


def _named(found: Counter[Cause]) -> NamedCauses:
    columns: list[Counter[str]] = [Counter(), Counter(), Counter()]
    for cause, count in found.items():
        for column, text in zip(columns, cause[:3], strict=True):
            if text is not None:
                column[text] += count
    operators, modules, sources = (tuple(text for text, _ in column.most_common()) for column in columns)
    return NamedCauses(operators, modules, sources, sum(count for cause, count in found.items() if cause.inferred))


def _cause(trace: Trace, numbers: Sequence[int], path: Callable[[int], str]) -> Cause:
    operator, module, source, inferred = numbers
    return Cause(
        operator=None if operator == ABSENT else trace.names[operator][:_LONGEST],
        module=None if module == ABSENT else path(module),
        source=None if source == ABSENT else trace.frames.labels[source].text,
        inferred=bool(inferred),
    )


def _with_inferred(trace: Trace, launches: Launches, columns: Around, counterparts: Counterparts) -> Bools:
    """Fill in what counterparts tell; whether any of it stands for each slice. What a graph's replay has around it is
    the replay's own cause, and gives way to theirs; elsewhere only what is missing is taken from them."""
    slices = trace.slices
    inferred = np.zeros(len(slices), np.bool_)
    rows = counterparts.rows
    if not len(rows):
        return inferred
    replayed = np.isin(launches.call_of[rows], launches.of(CallKind.GRAPH))
    told = [counterparts.agreed(column) for column in columns]
    knows = np.any([found != ABSENT for found in told], axis=0)
    for column, found in zip(columns, told, strict=True):
        taken = knows & (replayed | ((column[rows] == ABSENT) & (found != ABSENT)))
        inferred[rows[taken]] = True
        column[rows[taken]] = found[taken]
    return inferred
