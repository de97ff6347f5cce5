"""Marks for the module and the source line of each call of torch, as annotations in a recording.

For the uncaptured pass alone: the marks take the host's time, which the run's own passes must not pay.
"""

from __future__ import annotations

import dataclasses
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode
from torch.profiler import record_function

MODULE, SOURCE = "fusescope.module:", "fusescope.source:"
_TORCH = str(Path(torch.__file__).parent)
_NOT_USERS = (_TORCH, str(Path(sysconfig.get_path("stdlib"))), "<")
_PACKAGES = str(Path(sysconfig.get_path("purelib")))


@contextmanager
def marked_causes(inputs: Any) -> Iterator[None]:
    """`fusescope.module:LlamaForCausalLM.model.layers.0.mlp` around each module's call, and
    `fusescope.source:profiles/operations/swiglu.py(64): unfused` around each function of torch that is called."""
    with _marked_modules(_qualified_names(inputs)), _SourceMarks():
        yield


class _SourceMarks(TorchFunctionMode):
    """Torch's functions in Python are marked as a whole: within one, no mode is asked."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        line = _users_line(sys._getframe(1)) if _may_launch(func) else None
        if line is None:
            return func(*args, **(kwargs or {}))
        with record_function(SOURCE + line):
            return func(*args, **(kwargs or {}))


def _may_launch(function: Callable[..., Any]) -> bool:
    """Attributes such as a shape are read through the mode too, and so are the profiler's own marks."""
    return getattr(function, "__name__", "") != "__get__" and "profiler" not in str(getattr(function, "__module__", ""))


def _users_line(frame: FrameType | None) -> str | None:
    """The innermost line that is neither torch's nor Python's."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not _within(file):
            return f"{_shortened(file)}({frame.f_lineno}): {frame.f_code.co_name}"
        frame = frame.f_back
    return None


@cache
def _within(file: str) -> bool:
    return file == __file__ or (file.startswith(_NOT_USERS) and (file.startswith(_TORCH) or _PACKAGES not in file))


@cache
def _shortened(file: str) -> str:
    """Without the folder that it was imported from, as torch writes it."""
    folders = [folder.rstrip("/") + "/" for folder in sys.path if folder and file.startswith(folder.rstrip("/") + "/")]
    return file.removeprefix(max(folders, key=len, default=""))


def _qualified_names(inputs: Any) -> dict[int, str]:
    """Of the modules among the inputs and all within them, by identity."""
    fields = dataclasses.fields(inputs) if dataclasses.is_dataclass(inputs) else ()
    roots = [value for field in fields if isinstance(value := getattr(inputs, field.name), nn.Module)]
    return {
        id(module): ".".join(filter(None, (type(root).__name__, name)))
        for root in roots
        for name, module in root.named_modules()
    }


@contextmanager
def _marked_modules(names: dict[int, str]) -> Iterator[None]:
    open_marks: list[Any] = []

    def enter(module: nn.Module, _: object) -> None:
        mark: Any = record_function(MODULE + names.get(id(module), type(module).__name__))
        mark.__enter__()
        open_marks.append(mark)

    def leave(_: nn.Module, __: object, ___: object) -> None:
        open_marks.pop().__exit__(None, None, None)

    hooks = [register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
