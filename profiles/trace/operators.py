"""Compute operators: what a CPU runs where a GPU runs kernels.

They are the lowest recorded operators that are neither views nor allocations nor questions: an operator that only
calls others (`aten::matmul`, `aten::softmax`, `aten::to`) stands back behind those. Operators that do their own work,
but call small ones for scalars, biases or initial values, count as one whatever they call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from profiles.trace.model import Int64s, SliceKind, Trace


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VIEWS = _words("""
    view reshape _reshape_alias _unsafe_view view_as expand expand_as transpose t permute unsqueeze squeeze slice select
    as_strided detach alias narrow split split_with_sizes chunk unbind unflatten flatten diagonal movedim swapaxes mT
    contiguous to _to_copy type_as resolve_conj resolve_neg conj lift_fresh broadcast_tensors unsafe_split
    unsafe_chunk numpy_T mH real imag view_as_real view_as_complex
""")
_ALLOCATIONS = _words("""
    empty empty_like empty_strided new_empty new_empty_strided resize_ resize_as_ set_ scalar_tensor
    _efficientzerotensor
""")
_QUESTIONS = _words("""
    _fused_sdp_choice is_nonzero item _local_scalar_dense result_type
""")  # asked about tensors, nothing computed from them
_ELEMENTWISE = _words("""
    add sub rsub mul div floor_divide remainder pow eq ne lt le gt ge maximum minimum where clamp clamp_min clamp_max
    addcmul addcdiv lerp bitwise_and bitwise_or bitwise_xor bitwise_not logical_and logical_or logical_xor logical_not
""")
_WHOLE = (
    _ELEMENTWISE
    | {f"{name}_" for name in _ELEMENTWISE}
    | _words("""
        mm bmm addmm baddbmm addbmm mv addmv dot masked_fill_ copy_ fill_ sum all any amax amin prod cumsum argmax
        argmin max min topk sort arange cat index index_put_ _softmax _log_softmax native_layer_norm native_group_norm
        native_batch_norm _scaled_dot_product_flash_attention_for_cpu
    """)
)
_GENERATED = re.compile(r"(graph_\d+_)?(cpp|triton)_(\w+_)?fused_")
_COMPILED_REGION = re.compile(r"## Call CompiledFxGraph|Torch-Compiled Region")
_NAMESPACE = re.compile(r"(?!autograd::)\w+::\w+$")


@dataclass(slots=True)
class _Open:
    """An operator that later rows may lie within."""

    row: int
    end_ns: int
    counts: bool
    whole: bool
    found_below: bool = False


def compute_operators(trace: Trace, start_ns: int, end_ns: int) -> Int64s:
    """The rows of the compute operators that start within the interval, on all threads, in order."""
    slices = trace.slices
    rows = _operators_within(trace, start_ns, end_ns)
    found: list[int] = []
    by_thread = rows[np.argsort(slices.track[rows], kind="stable")]
    for mine in np.split(by_thread, np.flatnonzero(np.diff(slices.track[by_thread])) + 1):
        found += _of_thread(trace, mine)
    return np.array(sorted(found), np.int64)


def hides_compiled_kernels(trace: Trace, start_ns: int, end_ns: int) -> bool:
    """Whether compiled code ran whose kernels left no record: inductor marks its C++ kernels only when told to."""
    rows = _operators_within(trace, start_ns, end_ns)
    names = [trace.names[index] for index in np.unique(trace.slices.name[rows])]
    compiled = any(_COMPILED_REGION.match(name) for name in names)
    return compiled and not any(_GENERATED.match(name) for name in names)


def _operators_within(trace: Trace, start_ns: int, end_ns: int) -> Int64s:
    """By bisection: slices are ordered by start, and a recording may have thousands of steps."""
    first, last = np.searchsorted(trace.slices.start_ns, (start_ns, end_ns)).tolist()
    inside: Int64s = first + np.flatnonzero(trace.slices.kind[first:last] == SliceKind.OPERATOR)
    return inside


def _of_thread(trace: Trace, rows: Int64s) -> list[int]:
    slices = trace.slices
    found: list[int] = []
    stack: list[_Open] = []
    for row, start_ns, end_ns in zip(
        rows.tolist(), slices.start_ns[rows].tolist(), slices.ends_ns(rows).tolist(), strict=True
    ):
        while stack and stack[-1].end_ns <= start_ns:
            _close(stack, found)
        if stack and stack[-1].whole:
            continue
        name = trace.names[slices.name[row]]
        stack.append(_Open(row, end_ns, counts=_computes(name), whole=_is_whole(name)))
    while stack:
        _close(stack, found)
    return found


def _close(stack: list[_Open], found: list[int]) -> None:
    closed = stack.pop()
    if closed.counts and not closed.found_below:
        found.append(closed.row)
        closed.found_below = True
    if stack and closed.found_below:
        stack[-1].found_below = True


def _computes(name: str) -> bool:
    plain = name.removeprefix("aten::")
    if plain in _VIEWS | _ALLOCATIONS | _QUESTIONS:
        return False
    return bool(_NAMESPACE.match(name) or _GENERATED.match(name))


def _is_whole(name: str) -> bool:
    plain = name.removeprefix("aten::")
    return (plain != name and plain in _WHOLE) or bool(_GENERATED.match(name))
