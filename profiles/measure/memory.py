"""Peak memory of one call above its inputs, by torch's own allocator: outputs and everything in between."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
import torch
from torch.profiler import ProfilerActivity, profile

from profiles.measure.device import synchronise
from profiles.measure.subject import Subject


def peak_memory(subject: Subject, device: torch.device) -> int:
    """Bytes. What libraries allocate by themselves (oneDNN's and MKL's scratch on a CPU) is not seen."""
    with subject.context():
        subject.call()
        return _peak_on_gpu(subject, device) if device.type == "cuda" else _peak_on_cpu(subject)


def _peak_on_gpu(subject: Subject, device: torch.device) -> int:
    synchronise(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    output = subject.call()
    synchronise(device)
    del output
    return int(torch.cuda.max_memory_allocated(device)) - before


class _Arguments(msgspec.Struct):
    bytes: int = msgspec.field(name="Bytes", default=0)


class _Event(msgspec.Struct):
    name: str = ""
    timestamp: float = msgspec.field(name="ts", default=0.0)
    arguments: _Arguments = msgspec.field(name="args", default_factory=_Arguments)


class _Trace(msgspec.Struct):
    events: list[_Event] = msgspec.field(name="traceEvents")


def _peak_on_cpu(subject: Subject) -> int:
    """A CPU's allocator keeps no peak: the sizes of all allocations and releases are recorded and added up."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        output = subject.call()
        del output
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "memory.json"
        profiler.export_chrome_trace(str(path))
        events = msgspec.json.decode(path.read_bytes(), type=_Trace).events
    changes = sorted((e for e in events if e.name == "[memory]"), key=lambda event: event.timestamp)
    return _highest([event.arguments.bytes for event in changes])


def _highest(changes: list[int]) -> int:
    level = highest = 0
    for change in changes:
        level += change
        highest = max(highest, level)
    return highest
