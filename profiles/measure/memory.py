"""Memory of one call above its inputs, by torch's own allocator: outputs and everything in between."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch.profiler import ProfilerActivity, profile

from profiles.measure.device import synchronise
from profiles.measure.metrics import single_metric
from profiles.measure.rotation import size_bytes, tensors
from profiles.measure.subject import Subject
from profiles.operations.implementation import Output
from profiles.results import Metric


@dataclass(frozen=True, slots=True)
class Memory:
    """Of one call, in bytes, above what was there before. Workspace is what of the peak is no output; `reserved` is
    what torch's allocator took from the device for it, None on a CPU."""

    peak: int
    workspace: int
    reserved: int | None = None

    def metrics(self) -> Iterator[Metric]:
        yield single_metric("peak_memory", "bytes", self.peak, statistic="max")
        yield single_metric("workspace_memory", "bytes", self.workspace, statistic="max")
        if self.reserved is not None:
            yield single_metric("reserved_memory", "bytes", self.reserved, statistic="max")


def call_memory(subject: Subject, device: torch.device) -> Memory:
    """What libraries allocate by themselves (oneDNN's and MKL's scratch on a CPU) is not seen."""
    with subject.context():
        subject.call()
        return _memory_on_gpu(subject, device) if device.type == "cuda" else _memory_on_cpu(subject)


def _memory_on_gpu(subject: Subject, device: torch.device) -> Memory:
    with suppress(RuntimeError):  # after a failed capture the allocator may not be able to part with its unused blocks
        torch.cuda.empty_cache()
    synchronise(device)
    torch.cuda.reset_peak_memory_stats(device)
    allocated, reserved = torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device)
    output = subject.call()
    synchronise(device)
    peak = int(torch.cuda.max_memory_allocated(device)) - allocated
    taken = int(torch.cuda.max_memory_reserved(device)) - reserved
    return Memory(peak, max(0, peak - new_bytes(output, subject.inputs)), taken)


def new_bytes(output: Output, inputs: Any) -> int:
    """Of the outputs, without what lies in the inputs' own memory."""
    there = {tensor.untyped_storage().data_ptr() for tensor in tensors(inputs)}
    outputs = output if isinstance(output, tuple) else (output,)
    return size_bytes(t for t in outputs if t.untyped_storage().data_ptr() not in there)


class _Arguments(msgspec.Struct):
    bytes: int = msgspec.field(name="Bytes", default=0)


class _Event(msgspec.Struct):
    name: str = ""
    timestamp: float = msgspec.field(name="ts", default=0.0)
    arguments: _Arguments = msgspec.field(name="args", default_factory=_Arguments)


class _Trace(msgspec.Struct):
    events: list[_Event] = msgspec.field(name="traceEvents")


def _memory_on_cpu(subject: Subject) -> Memory:
    """A CPU's allocator keeps no peak: the sizes of all allocations and releases are recorded and added up."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        output = subject.call()
        new = new_bytes(output, subject.inputs)
        del output
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "memory.json"
        profiler.export_chrome_trace(str(path))
        events = msgspec.json.decode(path.read_bytes(), type=_Trace).events
    changes = sorted((e for e in events if e.name == "[memory]"), key=lambda event: event.timestamp)
    peak = _highest([event.arguments.bytes for event in changes])
    return Memory(peak, max(0, peak - new))


def _highest(changes: list[int]) -> int:
    level = highest = 0
    for change in changes:
        level += change
        highest = max(highest, level)
    return highest
