"""Nsight Systems' SQLite exports, of whatever version, into the normal form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from profiles.trace.columns import NO_NAME, SliceColumns, nameless
from profiles.trace.errors import UnsupportedFormat
from profiles.trace.model import ABSENT, CALL_KINDS, GPU_KINDS, PROCESS_SHIFT, Int64s, SliceKind, Trace
from profiles.trace.nsight_database import Database, Row, open_database
from profiles.trace.nsight_health import Seen, findings
from profiles.trace.nsight_names import (
    KERNEL_NAMES,
    CopyNames,
    call_kind,
    call_name,
    is_step,
    range_meaning,
    range_types,
    strings,
)
from profiles.trace.nsight_numbers import Times, times, whole
from profiles.trace.nsight_shapes import SHAPE_COLUMNS, KernelShapes
from profiles.trace.nsight_tracks import Tracks, process_of

CALLS, RANGES = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
_GPU_TABLES = {
    SliceKind.KERNEL: "CUPTI_ACTIVITY_KIND_KERNEL",
    SliceKind.MEMCPY: "CUPTI_ACTIVITY_KIND_MEMCPY",
    SliceKind.MEMSET: "CUPTI_ACTIVITY_KIND_MEMSET",
}
_GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_PLACE = ("deviceId", "contextId", "streamId", "globalPid", "correlationId")
_KIND_COLUMNS = {
    SliceKind.KERNEL: (*KERNEL_NAMES, *SHAPE_COLUMNS),
    SliceKind.MEMCPY: ("copyKind", "srcKind", "dstKind"),
    SliceKind.MEMSET: ("memKind",),
}
_SESSION = "TARGET_INFO_SESSION_START_TIME"
_YEAR_2100_NS = 4_102_444_800 * 10**9
_MOST_CORRELATIONS = 1 << PROCESS_SHIFT

_Columns = list[tuple[object, ...]]


def read_nsight(path: Path) -> Trace:
    """UnsupportedFormat for a database that no Nsight Systems wrote, UnreadableTrace for a damaged one."""
    with open_database(path) as database:
        _refuse_others(database)
        return _Recording(database).trace()


def _refuse_others(database: Database) -> None:
    tables = database.tables
    if "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL" in tables:
        raise UnsupportedFormat("a database of nvprof, which cannot be read here; expected an export of Nsight Systems")
    if not any(name == RANGES or name.startswith(("CUPTI_ACTIVITY_KIND_", "TARGET_INFO_")) for name in tables):
        named = ", ".join(repr(name) for name in sorted(tables)[:6]) or "none"
        raise UnsupportedFormat(
            f"an SQLite database, but none that Nsight Systems exported (its tables: {named}); expected one made by"
            " nsys export --type sqlite"
        )


class _Recording:
    """Collects the slices of each table."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns = SliceColumns()
        self._texts = strings(database)
        self._copies = CopyNames(database)
        self._shapes = KernelShapes()
        self._names: dict[str, int] = {}
        self._processes: dict[int, int] = {}
        self._tracks = Tracks(database, self._texts)
        self._seen = Seen()

    def trace(self) -> Trace:
        for kind, table in _GPU_TABLES.items():
            for run in self._database.rows(table, ("start", "end", *_PLACE, *_KIND_COLUMNS[kind])):
                self._add_gpu(kind, *self._timed(run))
        for run in self._database.rows(CALLS, ("start", "end", "globalTid", "correlationId", "nameId")):
            self._add_calls(*self._timed(run))
        self._add_ranges()
        names, slices, wrong = self._columns.finish(tuple(self._names))
        absent = self._absent()
        self._seen.whole_graphs = 0 if self._database.is_empty(_GRAPHS) else self._database.count(_GRAPHS)
        self._seen.on_gpu = not absent.issuperset(GPU_KINDS)
        self._seen.calls = not absent.issuperset(CALL_KINDS)
        return Trace(
            format="nsys-sqlite",
            unit="ns",
            names=names,
            tracks=self._tracks.named(),
            slices=slices,
            devices=self._tracks.devices(),
            findings=(*findings(self._seen), *wrong, *nameless(self._seen.nameless)),
            records=sum(self._database.count(table) for table in self._events()),
            epoch_ns=self._epoch_ns(),
            absent=absent,
            shapes=self._shapes.shapes(),
        )

    def _timed(self, run: list[Row]) -> tuple[_Columns, Times]:
        """The run's columns without the first two, which are the times; rows with malformed ones are left out."""
        starts, ends, *rest = zip(*run, strict=True)
        found = times(starts, ends)
        if not found.malformed.any():
            return rest, found
        self._seen.malformed += int(found.malformed.sum())
        well = [row for row, odd in zip(run, found.malformed.tolist(), strict=True) if not odd]
        return self._timed(well) if well else ([() for _ in rest], times((), ()))

    def _add_gpu(self, kind: SliceKind, columns: _Columns, found: Times) -> None:
        device, context, stream, process, correlation = columns[: len(_PLACE)]
        own = columns[len(_PLACE) :]
        processes = [process_of(key) for key in whole(process).tolist()]
        if kind == SliceKind.KERNEL:
            names = self._kernel_names(own[: len(KERNEL_NAMES)])
            shapes = self._shapes.numbers(own[len(KERNEL_NAMES) :])
        else:
            name = self._copies.copy if kind == SliceKind.MEMCPY else self._copies.fill
            names = [self._name(name(*row)) for row in zip(*own, strict=True)]
            shapes = [ABSENT] * len(names)
        places = zip(whole(device).tolist(), whole(stream).tolist(), whole(context).tolist(), processes, strict=True)
        self._columns.add_ns(
            kind=[kind] * len(names),
            name=names,
            track=[self._tracks.stream(*place) for place in places],
            start_ns=found.start_ns,
            duration_ns=found.duration_ns,
            known=found.known,
            correlation=self._correlations(processes, correlation),
            shape=shapes,
        )

    def _add_calls(self, columns: _Columns, found: Times) -> None:
        threads, correlation, name_ids = columns
        tids = whole(threads).tolist()
        names = [call_name(self._text(name)) for name in name_ids]
        self._columns.add_ns(
            kind=[call_kind(name) for name in names],
            name=[self._name(name) for name in names],
            track=[self._tracks.thread(tid) for tid in tids],
            start_ns=found.start_ns,
            duration_ns=found.duration_ns,
            known=found.known,
            correlation=self._correlations([process_of(tid) for tid in tids], correlation),
            shape=[ABSENT] * len(names),
        )

    def _add_ranges(self) -> None:
        types = range_types(self._database)
        typed = self._database.has(RANGES, "eventType")
        for run in self._database.rows(RANGES, ("start", "end", "eventType", "globalTid", "text", "textId")):
            ranges = [row for row in run if not typed or row[2] in types]
            closed = [row for row in ranges if row[1] is not None]
            self._seen.open_ranges += len(ranges) - len(closed) if typed else 0
            if closed:
                self._add_closed(*self._timed(closed))

    def _add_closed(self, columns: _Columns, found: Times) -> None:
        _, threads, texts, text_ids = columns
        named = zip(texts, text_ids, strict=True)
        meanings = [range_meaning(self._text(text or key)) for text, key in named]
        tids = whole(threads).tolist()
        marks = zip(tids, meanings, strict=True)
        self._seen.stepping |= {process_of(tid) for tid, (_, name) in marks if is_step(name)}
        self._columns.add_ns(
            kind=[kind for kind, _ in meanings],
            name=[self._name(name) for _, name in meanings],
            track=[self._tracks.thread(tid) for tid in tids],
            start_ns=found.start_ns,
            duration_ns=found.duration_ns,
            known=found.known,
            correlation=np.full(len(meanings), ABSENT, np.int64),
            shape=[ABSENT] * len(meanings),
        )

    def _kernel_names(self, columns: Sequence[tuple[object, ...]]) -> list[int]:
        return [self._name(next(filter(None, map(self._text, keys)), "")) for keys in zip(*columns, strict=True)]

    def _text(self, key: object) -> str:
        """Of a column that refers to a text, or holds it."""
        if isinstance(key, int):
            return self._texts.get(key, "")
        return key if isinstance(key, str) else ""

    def _name(self, name: str) -> int:
        if not name:
            self._seen.nameless += 1
        return self._names.setdefault(name or NO_NAME, len(self._names))

    def _correlations(self, processes: Iterable[int], correlation: tuple[object, ...]) -> Int64s:
        """Told apart by process, where both the calls and the slices say theirs."""
        found = whole(correlation)
        known = (found >= 0) & (found < _MOST_CORRELATIONS)
        if self._tells_processes():
            numbers = [self._processes.setdefault(process, len(self._processes)) for process in processes]
            found = found + (np.array(numbers, np.int64) << PROCESS_SHIFT)
        return np.where(known, found, ABSENT)

    def _tells_processes(self) -> bool:
        gpu = [table for table in _GPU_TABLES.values() if table in self._database.tables]
        return self._database.has(CALLS, "globalTid") and all(self._database.has(table, "globalPid") for table in gpu)

    def _absent(self) -> frozenset[SliceKind]:
        """The kinds of which the export tells nothing. Most exports leave out what there was none of; others have
        every table, also those of what was not recorded."""
        if all(self._database.is_empty(table) for table in (*_GPU_TABLES.values(), CALLS)):
            return frozenset((*GPU_KINDS, *CALL_KINDS))
        gpu = (kind for kind, table in _GPU_TABLES.items() if table not in self._database.tables)
        return frozenset((*gpu, *(() if CALLS in self._database.tables else CALL_KINDS)))

    def _events(self) -> list[str]:
        """The tables whose rows are records of what happened when."""
        return [table for table, columns in self._database.tables.items() if "start" in columns]

    def _epoch_ns(self) -> int:
        found = [row[0] for run in self._database.rows(_SESSION, ("utcEpochNs",)) for row in run]
        return next((value for value in found if isinstance(value, int) and 0 < value < _YEAR_2100_NS), 0)
