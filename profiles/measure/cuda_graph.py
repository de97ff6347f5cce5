"""A capture of eager calls in a CUDA graph of our own, and its replay: `cudagraph` as an execution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from profiles.measure.failures import first_cause
from profiles.operations.implementation import Forward, Output, UnsupportedError

WARM_UP_CALLS = 3  # on another stream, as torch asks for: libraries make their handles and plans outside the capture


class CapturedCall:
    """Calling it replays the capture; the first call, and the first one with other inputs, makes it.

    The outputs are the graph's own buffers: every replay writes the same ones.
    """

    def __init__(self, function: Forward) -> None:
        self.captured = function
        self._replay: Callable[[], None] | None = None
        self._inputs: Any = None
        self._output: Output | None = None

    def __call__(self, inputs: Any) -> Output:
        if self._replay is None or inputs is not self._inputs:
            self._capture(inputs)
        assert self._replay is not None, "a capture that fails has raised"
        self._replay()
        assert self._output is not None, "the capture has made it"
        return self._output

    def _capture(self, inputs: Any) -> None:
        """UnsupportedError with torch's own reason where a call does what no graph can hold."""
        self._replay, self._output, self._inputs = None, None, inputs  # the old graph's memory goes first
        _warm_up(self.captured, inputs)
        cuda: Any = torch.cuda
        graph = cuda.CUDAGraph()
        try:
            with cuda.graph(graph):
                self._output = self.captured(inputs)
        except RuntimeError as error:
            raise UnsupportedError(f"cannot be captured in a CUDA graph: {first_cause(error)}") from error
        self._replay = graph.replay


def afresh(function: Callable[[Any], Output]) -> Callable[[Any], Output]:
    """For other inputs beside those that there are: a capture of their own; any other function as it is."""
    return CapturedCall(function.captured) if isinstance(function, CapturedCall) else function


def _warm_up(function: Forward, inputs: Any) -> None:
    cuda: Any = torch.cuda  # its stream and graph classes have no types
    current, side = cuda.current_stream(), cuda.Stream()
    side.wait_stream(current)
    with cuda.stream(side):
        for _ in range(WARM_UP_CALLS):
            function(inputs)
    current.wait_stream(side)
