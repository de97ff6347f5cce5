"""The streams and threads of an Nsight Systems export: whose they are, and what they are called."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from profiles.trace.model import Device, Track
from profiles.trace.nsight_database import Database

_PID_SHIFT = 24


def process_of(global_id: int) -> int:
    """The machine and process bits of a globalTid or globalPid: machine and VM in the highest 16, then 24 of the
    process and 24 of the thread (Nsight Systems documentation, "Common SQLite Examples")."""
    return global_id >> _PID_SHIFT


def pid_of(process: int) -> int:
    return process & 0xFFFFFF


class Tracks:
    """Numbered in the order in which they come; streams are named once all are known."""

    def __init__(self, database: Database, texts: dict[int, str]) -> None:
        self._hosts = _HostNames(database, texts)
        self._gpus = _Gpus(database)
        self._numbers: dict[_Stream | int, int] = {}

    def stream(self, ordinal: int, number: int, context: int, process: int) -> int:
        """`ordinal` is the device's number in its process."""
        key = _Stream(self._gpus.index(process, ordinal), number, context, process)
        return self._numbers.setdefault(key, len(self._numbers))

    def thread(self, global_tid: int) -> int:
        return self._numbers.setdefault(global_tid, len(self._numbers))

    def named(self) -> tuple[Track, ...]:
        streams = Counter(key[:2] for key in self._numbers if isinstance(key, _Stream))
        return tuple(
            _stream_track(key, alone=streams[key[:2]] == 1) if isinstance(key, _Stream) else self._hosts.track(key)
            for key in self._numbers
        )

    def devices(self) -> tuple[Device, ...]:
        used = {key.device for key in self._numbers if isinstance(key, _Stream)}
        return tuple(self._gpus.device(index) for index in sorted(used))


class _Stream(NamedTuple):
    device: int
    number: int
    context: int
    process: int


def _stream_track(stream: _Stream, *, alone: bool) -> Track:
    """Streams are numbered within a context of a process: those are named where the number is not enough."""
    within = "" if alone else f" (context {stream.context} of process {pid_of(stream.process)})"
    return Track(process=f"GPU {stream.device}", row=f"stream {stream.number}{within}", device=stream.device)


class _HostNames:
    """Processes and threads."""

    def __init__(self, database: Database, texts: dict[int, str]) -> None:
        self._processes = {
            process_of(key): name
            for run in database.rows("PROCESSES", ("globalPid", "name"))
            for key, name in run
            if isinstance(key, int) and isinstance(name, str)
        }
        self._threads = {
            key: texts[name]
            for run in database.rows("ThreadNames", ("globalTid", "nameId"))
            for key, name in run
            if isinstance(key, int) and isinstance(name, int) and name in texts
        }

    def track(self, global_tid: int) -> Track:
        process, tid = process_of(global_tid), global_tid & (1 << _PID_SHIFT) - 1
        named, thread = self._processes.get(process), self._threads.get(global_tid)
        pid = pid_of(process)
        return Track(
            process=f"{named} ({pid})" if named else f"process {pid}",
            row=f"thread {tid} ({thread})" if thread else f"thread {tid}",
        )


class _Gpus:
    """Devices by the number that the process had for them; by the machine's where processes number them differently
    (each rank of a job may see one device, its 0)."""

    def __init__(self, database: Database) -> None:
        self._name_of_gpu: dict[int, str] = {}
        self._gpu_by_ordinal: dict[int, int] = {}
        for run in database.rows("TARGET_INFO_GPU", ("id", "name", "cuDevice")):
            for gpu, name, ordinal in run:
                if isinstance(gpu, int) and isinstance(name, str):
                    self._name_of_gpu[gpu] = name
                    self._gpu_by_ordinal[ordinal if isinstance(ordinal, int) else gpu] = gpu
        self._gpu_of: dict[tuple[int, int], int] = {}
        seen: dict[int, set[int]] = defaultdict(set)
        for run in database.rows("TARGET_INFO_CUDA_DEVICE", ("pid", "cudaId", "gpuId")):
            for pid, ordinal, gpu in run:
                if isinstance(pid, int) and isinstance(ordinal, int) and isinstance(gpu, int):
                    self._gpu_of[pid, ordinal] = gpu
                    seen[ordinal].add(gpu)
        self._ambiguous = any(len(gpus) > 1 for gpus in seen.values())
        self._only = {ordinal: next(iter(gpus)) for ordinal, gpus in seen.items()}

    def index(self, process: int, ordinal: int) -> int:
        return self._gpu_of.get((pid_of(process), ordinal), ordinal) if self._ambiguous else ordinal

    def device(self, index: int) -> Device:
        gpu = index if self._ambiguous else self._only.get(index, self._gpu_by_ordinal.get(index, index))
        names = set(self._name_of_gpu.values())
        return Device(index=index, name=self._name_of_gpu.get(gpu, names.pop() if len(names) == 1 else None))
