"""Small exports of Nsight Systems, written with the columns of version 2026.1 unless said otherwise."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

KERNELS, CALLS = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
COPIES, FILLS = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
RANGES, STRINGS = "NVTX_EVENTS", "StringIds"
PUSH_POP, MARK = 59, 34
_PLACE = "start end deviceId contextId streamId correlationId globalPid graphNodeId"
_COLUMNS = {
    KERNELS: f"{_PLACE} demangledName shortName mangledName registersPerThread gridX gridY gridZ blockX blockY blockZ"
    " staticSharedMemory dynamicSharedMemory",
    COPIES: f"{_PLACE} bytes copyKind srcKind dstKind",
    FILLS: f"{_PLACE} value bytes memKind",
    CALLS: "start end eventClass globalTid correlationId nameId returnValue",
    RANGES: "start end eventType text globalTid textId domainId",
    STRINGS: "id value",
}


def global_tid(pid: int, tid: int = 0) -> int:
    return 1 << 48 | pid << 24 | tid


class Export:
    """Tables with what was put in, and no others; times are ns."""

    def __init__(self) -> None:
        self.columns = {table: columns.split() for table, columns in _COLUMNS.items()}
        self.rows: dict[str, list[dict[str, object]]] = {}

    def add(self, table: str, **values: object) -> None:
        self.columns.setdefault(table, list(values))
        self.rows.setdefault(table, []).append(values)

    def without(self, table: str, columns: Iterable[str]) -> None:
        """As an older version has it."""
        self.columns[table] = [column for column in self.columns[table] if column not in set(columns)]

    def string(self, text: object) -> int:
        self.add(STRINGS, id=len(self.rows.get(STRINGS, ())) + 1, value=text)
        return len(self.rows[STRINGS])

    def call(self, name: str, start: int, correlation: int, *, pid: int = 5, tid: int = 6) -> None:
        key = global_tid(pid, tid)
        self.add(CALLS, start=start, end=start + 20, globalTid=key, correlationId=correlation, nameId=self.string(name))

    def kernel(
        self, start: object, duration: int, correlation: int, *, name: str = "some_kernel", pid: int = 5, **more: object
    ) -> None:
        end = start + duration if isinstance(start, int) else start
        values = {"start": start, "end": end, "correlationId": correlation, "globalPid": global_tid(pid)}
        place = {"deviceId": 0, "contextId": 1, "streamId": 7, "demangledName": self.string(name)}
        self.add(KERNELS, **place | values | more)

    def launched(
        self, start: int, correlation: int, *, name: str = "some_kernel", pid: int = 5, **more: object
    ) -> None:
        """A launch, and its kernel of 50 ns 100 ns later."""
        self.call("cudaLaunchKernel_v7000", start, correlation, pid=pid)
        self.kernel(start + 100, 50, correlation, name=name, pid=pid, **more)

    def range(self, text: str | None, start: int, end: int | None, *, pid: int = 5, **more: object) -> None:
        values = {"start": start, "end": end, "eventType": PUSH_POP, "text": text, "globalTid": global_tid(pid, 6)}
        self.add(RANGES, **values | more)

    def save(self, path: Path) -> Path:
        with sqlite3.connect(path) as connection:
            for table, rows in self.rows.items():
                columns = self.columns[table]
                connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
                places = ", ".join("?" * len(columns))
                values = [[row.get(column) for column in columns] for row in rows]
                connection.executemany(f"INSERT INTO {table} VALUES ({places})", values)  # noqa: S608 - names of our own
        connection.close()
        return path
