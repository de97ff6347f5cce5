"""A variant ready to be called: its function, its context and the inputs that all variants of a trial share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from profiles.measure import loading
from profiles.operations.implementation import Output, parts
from profiles.variant import Execution, parse_variant
from profiles.workload import Workload


@dataclass(frozen=True, slots=True)
class Subject:
    """`function(inputs)` is one forward pass; `context()` is entered around calls, outside every timed window."""

    variant: str
    function: Callable[[Any], Output]
    inputs: Any
    _context: Callable[[Any], Any]
    _compile_cache: Path

    def call(self) -> Output:
        return self.function(self.inputs)

    @contextmanager
    def context(self) -> Iterator[None]:
        """Torch's own context of this variant, and its own cache of compiled code."""
        with _compiling_into(self._compile_cache), self._context(self.inputs):
            yield


def build(workload: Workload, variant: str, inputs: Any, *, device: torch.device, compile_caches: Path) -> Subject:
    """Wrap the function for its execution; nothing is called or compiled yet.

    Compiled code is cached apart for each variant, and empty at the start of a trial, so that a first call shows what
    compiling costs whatever was measured before. Shapes are static: a run has one workload.
    """
    name, execution = parse_variant(variant)
    function, context = parts(loading.implementation(workload, name))
    if execution is Execution.COMPILE:
        function = torch.compile(function, fullgraph=True, dynamic=False, options=_compiler_options(device))
    return Subject(variant, function, inputs, context, compile_caches / variant.replace("@", "_"))


def _compiler_options(device: torch.device) -> dict[str, Any]:
    """On a CPU compiled kernels leave a record only when told to; asking whether anyone listens costs them some ns."""
    return {"cpp.enable_kernel_profile": True} if device.type == "cpu" else {}


@contextmanager
def _compiling_into(directory: Path) -> Iterator[None]:
    before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(directory)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCHINDUCTOR_CACHE_DIR"]
        else:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = before
