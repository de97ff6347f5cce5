"""The traced pass: a few forward passes under torch's profiler, after all timing."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from profiles.measure.device import synchronise
from profiles.measure.subject import Subject
from profiles.measure.uncaptured import record_uncaptured
from profiles.operations.stages import marked

FORWARD = "fusescope.forward#"


def record(subject: Subject, device: torch.device, path: Path, *, steps: int) -> str | None:
    """Write a `.json.gz` trace of `steps` forward passes, each inside an annotation `fusescope.forward#N`, and of the
    uncaptured pass after them. Returns why that one is missing, where it failed.

    Shapes, stacks and memory are not recorded: they cost time inside the window. One call runs while the profiler
    warms up and is not kept; the device is idle between the passes, outside their annotations.
    """
    profiler = profile(activities=_activities(device), record_shapes=False, profile_memory=False, with_stack=False)
    profiler.prepare_trace()
    with subject.context(), marked():
        subject.call()
        synchronise(device)
        profiler.start_trace()
        try:
            for step in range(steps):
                with record_function(f"{FORWARD}{step}"):
                    output = subject.call()
                synchronise(device)
                del output
            note = record_uncaptured(subject, device)
        finally:
            profiler.stop_trace()
    profiler.export_chrome_trace(str(path))
    return note


def _activities(device: torch.device) -> list[ProfilerActivity]:
    return [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.type == "cuda" else [])]
