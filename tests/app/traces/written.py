"""Traces for pages: written by hand, read by the real reader, and public ones where they are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.traces.readable import ReadTrace
from profiles.trace.contents import contents
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise
from tests.profiles.trace.conftest import PUBLIC_TRACES, Draft

GEMM, NORM = "ampere_sgemm_128x64_tn", "void rms_norm_kernel<float>(float*)"


def read(path: Path, *, key: str = "A", label: str | None = None) -> ReadTrace:
    trace = read_trace(path)
    return ReadTrace(key, label or path.name, None, 0, summarise(trace), contents(trace))


def public(name: str, *, key: str = "A") -> ReadTrace:
    """The public trace whose file's name begins so; skips where they are not here."""
    found = next(iter(PUBLIC_TRACES.glob(f"{name}*")), None)
    if found is None:
        pytest.skip("the public traces are not here (FUSESCOPE_TRACES)")
    return read(found, key=key)


def stepped(names: Sequence[Sequence[str]], *, duration: float = 5) -> Draft:
    """One step for each list of kernels' names, each kernel launched by an operator of its own."""
    draft, correlation = Draft(), 0
    for number, kernels in enumerate(names):
        start = 1000.0 * (number + 1)
        draft.forward(number, start, 900)
        for place, name in enumerate(kernels):
            correlation += 1
            at = start + 20 * place
            draft.operator("aten::mm" if name == GEMM else "aten::norm", at, 8)
            draft.launch(at + 1, correlation)
            draft.gpu(at + 12, duration, correlation, name=name)
    return draft


def written(draft: Draft, tmp_path: Path, *, key: str = "A", label: str = "by hand") -> ReadTrace:
    path = tmp_path / f"{key}.json"
    path.write_text(draft.text())
    return read(path, key=key, label=label)
