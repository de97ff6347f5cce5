"""A timeline's columns as chunks of Arrow IPC under zstd, and back. Arrow is spoken here alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from db.records import TimelineTables
from profiles.trace.timeline import Timeline

Column = npt.NDArray[Any]

CODEC = "arrow-zstd"
MOST_SLICES = 100_000
EMPTY: dict[str, Column] = {
    "track": np.empty(0, np.uint16),
    "name": np.empty(0, np.uint32),
    "start_ns": np.empty(0, np.int64),
    "duration_ns": np.empty(0, np.int64),
    "launch": np.empty(0, np.int32),
    "stages": np.empty(0, np.uint32),
    "cause": np.empty(0, np.uint32),
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """`n` slices that start between `t0` and `t1`."""

    t0: int
    t1: int
    n: int
    data: bytes


def tables_of(timeline: Timeline) -> TimelineTables:
    return TimelineTables(
        tracks=timeline.tracks,
        names=timeline.names,
        short_names=timeline.short_names,
        roles=timeline.roles,
        stage_sets=timeline.stage_sets,
        steps=timeline.steps,
        causes=timeline.causes,
    )


def chunks_of(timeline: Timeline) -> Iterator[Chunk]:
    """In the order of the slices, which is the order of their starts."""
    columns = {name: np.ascontiguousarray(getattr(timeline, name), empty.dtype) for name, empty in EMPTY.items()}
    for first in range(0, len(timeline.start_ns), MOST_SLICES):
        part = {name: column[first : first + MOST_SLICES] for name, column in columns.items()}
        starts = part["start_ns"]
        yield Chunk(t0=int(starts.min()), t1=int(starts.max()), n=len(starts), data=_encoded(part))


def timeline_of(tables: TimelineTables, chunks: Iterable[bytes]) -> Timeline:
    """The timeline that these chunks, in their order, were made of."""
    parts = [_decoded(data) for data in chunks]
    columns = {name: np.concatenate([empty, *(part[name] for part in parts)]) for name, empty in EMPTY.items()}
    values: dict[str, Any] = {**msgspec.structs.asdict(tables), **columns}
    return Timeline(**values)


def _encoded(columns: dict[str, Column]) -> bytes:
    batch = pa.RecordBatch.from_arrays([pa.array(column) for column in columns.values()], names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _decoded(data: bytes) -> dict[str, Column]:
    """Columns that are newer than the chunk have their zero: nothing told."""
    table = pa.ipc.open_stream(data).read_all()
    there = set(table.column_names)
    return {
        name: table.column(name).to_numpy() if name in there else np.zeros(table.num_rows, empty.dtype)
        for name, empty in EMPTY.items()
    }
