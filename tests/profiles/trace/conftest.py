"""Hand-made traces whose answers are obvious, small recordings of our own, and public ones where they are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profiles.trace.model import Trace
from profiles.trace.read import read_trace

PROJECT = Path(__file__).parents[3]
PUBLIC_TRACES = Path(os.environ.get("FUSESCOPE_TRACES") or PROJECT.parent / "shared" / "traces")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `public_trace` runs once for each public file that has figures; one skip where none are."""
    if "public_trace" in metafunc.fixturenames:
        truth_file = PUBLIC_TRACES / "truth.json"
        truth = json.loads(truth_file.read_text()) if truth_file.is_file() else {}
        names = [name for name, figures in truth.items() if not figures.get("refused")]
        absent = pytest.param("absent", marks=pytest.mark.skip("the public traces are not here (FUSESCOPE_TRACES)"))
        metafunc.parametrize("public_trace", names or [absent])


class Draft:
    """A trace being written, in µs: one thread of one process, one stream of one GPU unless said otherwise."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.surroundings: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU"}]}

    def add(self, category: str, name: str, start: object, duration: object, **fields: object) -> None:
        event = {"ph": "X", "cat": category, "name": name, "pid": 100, "tid": 1, "ts": start, "dur": duration}
        self.events.append(event | fields)

    def call(self, name: str, start: float, correlation: int, *, category: str = "cuda_runtime", tid: int = 1) -> None:
        self.add(category, name, start, 2, tid=tid, args={"correlation": correlation})

    def launch(self, start: float, correlation: int) -> None:
        self.call("cudaLaunchKernel", start, correlation)

    def gpu(
        self,
        start: object,
        duration: object,
        correlation: int,
        *,
        name: str = "some_kernel",
        category: str = "kernel",
        device: int = 0,
        stream: int = 7,
    ) -> None:
        args = {"device": device, "stream": stream, "correlation": correlation}
        self.add(category, name, start, duration, pid=device, tid=stream, args=args)

    def launched(self, start: float, correlation: int, *, duration: float = 5, name: str = "some_kernel") -> None:
        """A launch, and its kernel 10 µs later."""
        self.launch(start, correlation)
        self.gpu(start + 10, duration, correlation, name=name)

    def forward(self, number: int, start: float, duration: float) -> None:
        self.add("user_annotation", f"fusescope.forward#{number}", start, duration)

    def stage(self, names: str, start: float, duration: float) -> None:
        self.add("user_annotation", f"fusescope.stage:{names}", start, duration)

    def operator(self, name: str, start: float, duration: float, *, tid: int = 1) -> None:
        self.add("cpu_op", name, start, duration, tid=tid)

    def text(self) -> str:
        return json.dumps(self.surroundings | {"traceEvents": self.events})


@pytest.fixture
def draft() -> Draft:
    return Draft()


@pytest.fixture
def read_text(tmp_path: Path) -> Callable[[str | bytes], Trace]:
    """Read a text as a trace file."""

    def read(text: str | bytes) -> Trace:
        path = tmp_path / "trace.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_trace(path)

    return read


@pytest.fixture
def read_draft(read_text: Callable[[str], Trace]) -> Callable[[Draft], Trace]:
    return lambda draft: read_text(draft.text())


@pytest.fixture
def recordings() -> Path:
    return PROJECT / "tests" / "data" / "traces"


@pytest.fixture
def public_traces() -> Path:
    if not (PUBLIC_TRACES / "truth.json").is_file():
        pytest.skip("the public traces are not here (FUSESCOPE_TRACES)")
    return PUBLIC_TRACES
