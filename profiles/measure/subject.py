"""A variant ready to be called: its function, its context and the inputs that all variants of a trial share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from profiles.measure import loading
from profiles.measure.compile_watch import CompileWatch
from profiles.measure.cuda_graph import afresh
from profiles.measure.executions import executed, with_code_of_its_own
from profiles.operations.implementation import Output, parts
from profiles.variant import parse_variant
from profiles.workload import Workload


@dataclass(frozen=True, slots=True)
class Subject:
    """`function(inputs)` is one forward pass; `context()` is entered around calls, outside every timed window.

    `watch` hears within it what is compiled; None where nothing is. `compile_cache` is where the code is written.
    """

    variant: str
    function: Callable[[Any], Output]
    inputs: Any
    _context: Callable[[Any], Any]
    compile_cache: Path
    watch: CompileWatch | None = None

    def call(self) -> Output:
        return self.function(self.inputs)

    def on(self, inputs: Any) -> Subject:
        """The same variant, nothing built anew, with other inputs of the same kind; a CUDA graph is captured anew."""
        return replace(self, inputs=inputs, function=afresh(self.function))

    @contextmanager
    def context(self) -> Iterator[None]:
        """Torch's own context of this variant, and its own cache of compiled code."""
        with _compiling_into(self.compile_cache), self.watch or nullcontext(), self._context(self.inputs):
            yield


def build(
    workload: Workload, variant: str, inputs: Any, *, device: torch.device, compile_caches: Path, twin: bool = False
) -> Subject:
    """Wrap the function for its execution; nothing is called or compiled yet. A `twin` is compiled once more.

    Compiled code is cached apart for each variant, and empty at the start of a trial, so that a first call shows what
    compiling costs whatever was measured before. Shapes are static: a run has one workload.
    """
    name, execution = parse_variant(variant)
    function, context = parts(loading.implementation(workload, name))
    if twin:
        function = with_code_of_its_own(function)
    run_as = executed(function, execution, inputs=inputs, device=device)
    cache = compile_caches / variant.replace("@", "_") / ("twin" if twin else "own")
    return Subject(variant, run_as.function, inputs, context, cache, run_as.watch)


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
