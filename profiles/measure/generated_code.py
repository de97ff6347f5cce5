"""The code that inductor has written for a variant: which kernels it holds, and which operators each computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

from profiles.compilation import FusedKernel

FIRST_LINE = "# AOT ID:"  # of a wrapper, which calls the kernels; files of single kernels have none
_NUMBER = re.compile(r"# AOT ID: \['(\d+)")
_OPERATORS = re.compile(r"^\s*# Topologically Sorted Source Nodes: .*Original ATen: \[(.*)\]\s*$")
_KERNEL = re.compile(r"^(\w+) = async_compile\.(\w+)\(")
_FUSED = re.compile(r"^(?:triton|cpp)_(?:[a-z]+_)?fused_(\w*?)_?\d+$")


def written_code(cache: Path) -> str:
    """All wrappers that lie in a compile cache, in the order of their graphs; empty where none does."""
    found = [text for path in sorted(cache.rglob("*.py")) if (text := _text(path)).startswith(FIRST_LINE)]
    return "\n\n".join(sorted(found, key=_graph_number))


def fused_kernels(code: str, *, is_operator: Callable[[str], bool] | None = None) -> tuple[FusedKernel, ...]:
    """The kernels of `code` by their names in a trace, in order.

    Inductor writes the operators above a Triton kernel; of a C++ kernel they stand in the name alone, whose parts
    `is_operator` tells apart (torch's own operators unless given).
    """
    known = is_operator or _is_aten
    kernels: dict[str, tuple[str, ...]] = {}
    operators: tuple[str, ...] = ()
    for line in code.splitlines():
        if comment := _OPERATORS.match(line):
            operators = _bare(comment[1].split(","))
        elif kernel := _KERNEL.match(line):
            name = kernel[1]
            kernels[name] = tuple(dict.fromkeys((*kernels.get(name, ()), *(operators or _from_name(name, known)))))
            operators = ()
        elif not line.lstrip().startswith("#"):
            operators = ()  # the comment was about a call
    return tuple(FusedKernel(name=name, operators=told) for name, told in kernels.items())


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _graph_number(code: str) -> int:
    number = _NUMBER.match(code)
    return int(number[1]) if number else 0


def _bare(names: Iterable[str]) -> tuple[str, ...]:
    """`aten.silu` and `prims.convert_element_type` without the library's name, each once."""
    return tuple(dict.fromkeys(name.strip().rpartition(".")[2] for name in names if name.strip()))


def _from_name(name: str, is_operator: Callable[[str], bool]) -> tuple[str, ...]:
    fused = _FUSED.match(name)
    if fused is None or not fused[1]:
        return ()
    return _split(fused[1].split("_"), is_operator) or (fused[1],)


def _split(words: list[str], is_operator: Callable[[str], bool]) -> tuple[str, ...] | None:
    """`["native", "layer", "norm", "mul"]` as `("native_layer_norm", "mul")`: the longest names first."""
    if not words:
        return ()
    for length in range(len(words), 0, -1):
        name = "_".join(words[:length])
        if is_operator(name) and (rest := _split(words[length:], is_operator)) is not None:
            return (name, *rest)
    return None


def _is_aten(name: str) -> bool:
    return any(hasattr(library, name) for library in (torch.ops.aten, torch.ops.prims))
