"""Traces as Hypothesis draws them: whole JSON, with every field of every kind and size."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = (
    "kernel", "cudaLaunchKernel", "cudaGraphLaunch", "cuLaunchKernel", "hipMemcpyAsync", "cudaStreamBeginCapture",
    "cudaStreamEndCapture", "ProfilerStep#1", "ProfilerStep#2", "fusescope.forward#0", "fusescope.stage:a+b",
    "aten::mm", "aten::to", "process_name", "thread_name", "void f<g<int>>(int)", "",
)  # fmt: skip
CATEGORIES = (
    "kernel", "Kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cpu_op", "Operator",
    "user_annotation", "mtia_kernel", "",
)  # fmt: skip
_WILD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
_TIME = st.one_of(
    st.integers(0, 50),
    st.integers(-(2**53), 2**53),
    st.floats(0, 100),
    st.integers(-(2**64), 2**64),
    st.floats(),
    _WILD,
)
_SMALL = st.one_of(st.integers(0, 3), _WILD)
_ARGS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "correlation": st.one_of(st.integers(0, 5), _WILD),
            "device": _SMALL,
            "stream": _SMALL,
            "name": _WILD,
            "grid": _WILD,
            "block": st.one_of(st.just([32, 1, 1]), _WILD),
            "registers per thread": _WILD,
            "shared memory": _WILD,
            "est. achieved occupancy %": _WILD,
        },
    ),
    _WILD,
)
_EVENT = st.fixed_dictionaries(
    {"ph": st.sampled_from(("X", "X", "X", "M", "f"))},
    optional={
        "cat": st.one_of(st.sampled_from(CATEGORIES), _WILD),
        "name": st.one_of(st.sampled_from(NAMES), st.text(max_size=20), _WILD),
        "pid": _SMALL,
        "tid": _SMALL,
        "ts": _TIME,
        "dur": _TIME,
        "args": _ARGS,
    },
)
_EVENTS = st.lists(st.one_of(_EVENT, _EVENT, _EVENT, _WILD), max_size=12)
_SURROUNDINGS = st.fixed_dictionaries(
    {"traceEvents": _EVENTS},
    optional={
        "deviceProperties": st.one_of(st.just([{"id": 0, "name": "GPU"}]), _WILD),
        "baseTimeNanoseconds": _WILD,
        "displayTimeUnit": _WILD,
        "other": _WILD,
    },
)


def documents() -> st.SearchStrategy[bytes]:
    return st.one_of(_SURROUNDINGS, _EVENTS, _SURROUNDINGS).map(_written)


def _written(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
