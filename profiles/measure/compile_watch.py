"""Hears what torch.compile does while a variant is called, from what torch keeps anyway.

Compilation metrics and graph breaks are lists that torch fills whether anyone looks or not; skipped CUDA graphs and the
recompile limit are log lines. So listening costs a compilation nothing. Torch's private doors stay in here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from traceback import FrameSummary
from types import TracebackType
from typing import Any

import torch

from profiles.compilation import Compilation, GraphBreak, Recompile
from profiles.measure.compile_words import SKIPPED, break_reason, place, shortened, skip_reason

CUMULATIVE = ("dynamo", "aot_autograd", "inductor", "inductor_code_gen")
LIMIT_HIT = re.compile(r"hit config\.(\w*recompile_limit|cache_size_limit)|recompile limit exceeded", re.IGNORECASE)
# By name, for importing their modules here would take that time out of the first call. Where torch says why it skipped
# graphs has been renamed; both names are heard.
SPEAKERS = (
    "torch._dynamo.convert_frame",
    "torch._inductor.cudagraph_utils.__cudagraphs",
    "torch._inductor.cudagraph_utils.__perf_hints",
)


class CompileWatch:
    """Entered around a variant's calls, outside timed windows; `compilation` is what was heard so far, or None."""

    def __init__(self) -> None:
        self._metrics: list[Any] = []
        self._breaks: list[Any] = []
        self._ear = _Ear()
        self._depth = 0
        self._before: tuple[list[Any], int] = ([], 0)

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._before = (_metrics(), len(_breaks()))
            for speaker in SPEAKERS:
                logging.getLogger(speaker).addHandler(self._ear)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            for speaker in SPEAKERS:
                logging.getLogger(speaker).removeHandler(self._ear)
            known, breaks = self._before
            self._metrics += [metric for metric in _metrics() if all(metric is not old for old in known)]
            self._breaks += _breaks()[breaks:]

    @property
    def compilation(self) -> Compilation:
        frames = [metric for metric in self._metrics if not _of(metric, "is_runtime")]
        compiled = [frame for frame in frames if not _of(frame, "fail_type")]
        return Compilation(
            graphs=_graphs(compiled),
            breaks=tuple(dict.fromkeys(map(_break, self._breaks))),
            recompiles=tuple(_recompiles(compiled)),
            limit_hit=self._ear.limit_hit or any(_exceeds(_of(frame, "fail_reason")) for frame in frames),
            compile_s=sum(_of(frame, "entire_frame_compile_time_s") or 0.0 for frame in compiled) if compiled else None,
            stages_s=_stages_s(self._metrics),
            graph_skips=tuple(self._ear.skips),
        )


class _Ear(logging.Handler):
    """Takes the lines that matter out of torch's log, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.limit_hit = False
        self.skips: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        self.limit_hit = self.limit_hit or _exceeds(message)
        if SKIPPED.search(message):
            self.skips[skip_reason(message)] = None


def _metrics() -> list[Any]:
    """Torch's record of each compilation of this process; it keeps the last 64."""
    read = _read_metrics()
    return [] if read is None else list(read())


def _read_metrics() -> Callable[[], Iterable[Any]] | None:
    utils: Any = torch._dynamo.utils
    return getattr(utils, "get_compilation_metrics", None)


def _of(frame: Any, name: str) -> Any:
    """A field of torch's record, None where this torch does not have it."""
    return getattr(frame, name, None)


def _graphs(compiled: Sequence[Any]) -> int | None:
    """First versions of frames with operators in them; None where this torch keeps no records, which is not 0."""
    if _read_metrics() is None or not all(hasattr(frame, "graph_op_count") for frame in compiled):
        return None
    return sum(1 for frame in compiled if frame.graph_op_count and not _of(frame, "cache_size"))


def _breaks() -> Sequence[Any]:
    utils: Any = torch._dynamo.utils
    found: Sequence[Any] = getattr(utils, "graph_break_reasons", ())
    return found


def _break(reason: Any) -> GraphBreak:
    """Of torch's record: a text whose first line is a title, and the user's stack."""
    stack: Sequence[FrameSummary] = getattr(reason, "user_stack", None) or ()
    last = stack[-1] if stack else None
    where = place(last.filename, last.lineno) if last is not None and last.lineno else None
    return GraphBreak(reason=break_reason(str(reason.reason)), where=where)


def _recompiles(frames: Iterable[Any]) -> Iterable[Recompile]:
    """Torch writes the guards of every earlier version; the first is that of the latest one."""
    for frame in frames:
        reason = _of(frame, "recompile_reason")
        if _of(frame, "cache_size") and reason:
            guard = re.sub(r"^\d+/\d+: ", "", str(reason).strip().splitlines()[0])
            file, line = _of(frame, "co_filename"), _of(frame, "co_firstlineno")
            where = place(file, line) if file and line else None
            yield Recompile(guard=shortened(guard), where=where)


def _exceeds(reason: str | None) -> bool:
    return reason is not None and LIMIT_HIT.search(reason) is not None


def _stages_s(metrics: Sequence[Any]) -> dict[str, float]:
    """Seconds that each stage takes by itself; torch's own are cumulative, each with those that it calls inside.

    `code` is writing kernels and, on a CPU, the C++ compiler's time; `autotune` is choosing between kernels.
    """
    dynamo, aot, inductor, code = (_total_s(metrics, f"{stage}_cumulative_compile_time_us") for stage in CUMULATIVE)
    triton = _total_s(metrics, "triton_compile_time_us")
    stages = {
        "dynamo": dynamo - aot,
        "aot_autograd": aot - inductor,
        "inductor": inductor - code,
        "code": code - triton,
        "triton": triton,
        "autotune": _total_s(metrics, "compile_time_autotune_time_us", "runtime_triton_autotune_time_us"),
        "cuda_graphs": _total_s(metrics, "runtime_cudagraphify_time_us"),
    }
    return {stage: round(seconds, 6) for stage, seconds in stages.items() if seconds > 0}


def _total_s(metrics: Sequence[Any], *names: str) -> float:
    return sum(_of(metric, name) or 0 for metric in metrics for name in names) / 1e6
