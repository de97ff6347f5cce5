"""The check of one function, as a session makes it, on a CPU or wherever `device` is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from profiles.measure import loading
from profiles.measure.correctness import check
from profiles.measure.yardstick import Yardstick, yardstick
from profiles.operations.implementation import Forward, parts
from profiles.results import Correctness
from profiles.workload import Workload

CPU = torch.device("cpu")


class Bench:
    """One workload's inputs and yardstick, for any number of functions."""

    def __init__(self, workload: Workload, device: torch.device = CPU) -> None:
        self.module = loading.operation_module(workload)
        self.inputs: Any = self.module.inputs(workload, device)
        with torch.no_grad():
            self.yardstick: Yardstick = yardstick(self.module, workload, self.inputs)

    def check(self, function: Forward) -> Correctness:
        bare, context = parts(function)
        with torch.no_grad(), context(self.inputs):
            return check(lambda: bare(self.inputs), self.yardstick)

    def named(self, name: str) -> Callable[[Any], Any]:
        """An implementation of the operation, by name."""
        return getattr(self.module, name)  # type: ignore[no-any-return]
