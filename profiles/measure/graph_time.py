"""Replays of a CUDA graph captured from a variant's calls: the device's time without any of the host's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch

from profiles.measure.device import DeviceLostError, synchronise
from profiles.measure.failures import first_cause
from profiles.measure.subject import Subject

WARM_UP_CALLS = 2


class CaptureError(Exception):
    """The calls cannot be captured; the message is what torch or CUDA said, and the device works on."""


def side_stream(device: torch.device) -> Any:
    """To capture on: one for many graphs, since each new one costs a workspace per library."""
    cuda: Any = torch.cuda  # its stream and graph classes have no types
    return cuda.Stream(device)


class Replay:
    """One graph that holds a call of each subject, one after the other, in a memory pool of its own.

    Captured on a side stream after warm-up there, as torch asks for: libraries set up their workspaces per stream.
    """

    def __init__(self, subjects: Sequence[Subject], device: torch.device, stream: Any) -> None:
        self._device, self._stream, self.calls = device, stream, len(subjects)
        cuda: Any = torch.cuda
        self._graph, self._pool = cuda.CUDAGraph(), cuda.graph_pool_handle()
        self._capturing = False
        try:
            self.pool_bytes = self._capture(subjects)
            self()
            synchronise(device)
        except Exception as error:  # what is captured, and the capture itself, may raise anything
            self._abandon()
            raise CaptureError(first_cause(error)) from error

    def __call__(self) -> None:
        self._graph.replay()

    def _capture(self, subjects: Sequence[Subject]) -> int:
        """The bytes that the graph's pool took from the device."""
        cuda: Any = torch.cuda
        self._stream.wait_stream(cuda.current_stream(self._device))
        with cuda.stream(self._stream):
            for _ in range(WARM_UP_CALLS):
                subjects[0].call()
            synchronise(self._device)
            before = int(cuda.memory_reserved(self._device))
            self._graph.capture_begin(pool=self._pool)
            self._capturing = True
            for subject in subjects:
                subject.call()
            self._graph.capture_end()
            self._capturing = False
        return int(cuda.memory_reserved(self._device)) - before

    def _abandon(self) -> None:
        """Leave the capturing state; DeviceLostError where the failed capture has broken more than itself."""
        if self._capturing:
            cuda: Any = torch.cuda
            with cuda.stream(self._stream), suppress(RuntimeError):
                self._graph.capture_end()
                self._capturing = False
        if self._capturing:
            self._tell_the_allocator()
            with suppress(RuntimeError):
                self._leave_with_another()
        try:
            synchronise(self._device)
            torch.ones(1, device=self._device).add_(1).item()
        except RuntimeError as error:
            raise DeviceLostError(f"capturing a CUDA graph broke the device: {first_cause(error)}") from error

    def _leave_with_another(self) -> None:
        """Torch's random generator leaves its capturing state with the next capture that succeeds."""
        cuda: Any = torch.cuda
        graph, stream = cuda.CUDAGraph(), side_stream(self._device)
        something = torch.ones(1, device=self._device)
        synchronise(self._device)
        with cuda.stream(stream):
            graph.capture_begin()
            something.add_(1)
            graph.capture_end()

    def _tell_the_allocator(self) -> None:
        """A capture that could not be ended leaves torch's allocator waiting for its end, and refusing to tidy up.

        The functions that tell it are private.
        """
        for name in ("_cuda_endAllocateToPool", "_cuda_releasePool"):
            tell: Callable[[int, Any], None] | None = getattr(torch._C, name, None)
            if tell is not None:
                with suppress(RuntimeError):
                    tell(self._device.index or 0, self._pool)
