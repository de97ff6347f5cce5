"""Is the output right? Asked before any timing, against the float64 reference of the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import torch
from torch import Tensor

from profiles.measure.judging import judge, why_not_theirs
from profiles.measure.poison import poison_free_memory, poison_outputs
from profiles.measure.row_errors import bits
from profiles.measure.yardstick import Yardstick
from profiles.operations.implementation import Output
from profiles.results import Correctness

REPEATS = 3


def check(call: Callable[[], Output], yardstick: Yardstick) -> Correctness:
    """Call it four times: thrice on the workload's inputs and once, after the first, on others.

    Each time the memory that it is likely to be given is full of NaN. Every output is held against the reference, that
    of the other inputs against plain code; equal calls are compared bit by bit. The first thing that is wrong ends it.
    Afterwards the inputs are what they were, also where the call changed them or raised.
    """
    try:
        return _Check(call, yardstick).verdict()
    except _UnfitError as error:
        return Correctness(
            relative_l2=None,
            max_abs=None,
            nonfinite=0,
            tolerance=yardstick.tolerance,
            passed=False,
            plain_error=yardstick.plain_error,
            reason=str(error),
        )
    finally:
        yardstick.given.put_back()
        if yardstick.given.weights_changed:  # the next variant is judged and timed on them
            yardstick.given.redraw_weights()


class _UnfitError(Exception):
    """An output that cannot be compared at all, or inputs that are no longer those of the reference."""


class _Check:
    def __init__(self, call: Callable[[], Output], yardstick: Yardstick) -> None:
        self._call, self._yardstick, self._given = call, yardstick, yardstick.given
        self._forms = [(tuple(one.reference.shape), yardstick.dtype) for one in yardstick.expected]
        self._sizes = [one.reference.numel() * yardstick.dtype.itemsize for one in yardstick.expected]
        self._device = yardstick.expected[0].reference.device

    def verdict(self) -> Correctness:
        first, kept = self._first()
        if not first.passed:
            return first
        if reason := self._why_not_others():
            return msgspec.structs.replace(first, passed=False, reason=reason)
        deterministic = True
        for number in range(2, REPEATS + 1):
            if differing := self._again(kept):
                deterministic = False
                if not differing.passed:
                    reason = f"{differing.reason}, in call {number} of {REPEATS}"
                    return msgspec.structs.replace(differing, deterministic=False, repeats=number, reason=reason)
        if self._given.weights_changed:
            raise _UnfitError("it changes its weights")
        return msgspec.structs.replace(first, deterministic=deterministic, repeats=REPEATS)

    def _first(self) -> tuple[Correctness, list[Tensor]]:
        outputs = self._outputs()
        judged, kept = judge(outputs, self._yardstick), [output.clone() for output in outputs]
        self._forget(outputs)
        return judged, kept

    def _why_not_others(self) -> str | None:
        """The same memory with other contents: what is kept from an earlier call, by address or at all, is not
        theirs."""
        self._given.exchange()
        outputs = self._outputs()
        reason = why_not_theirs(outputs, self._yardstick)
        self._forget(outputs)
        self._given.put_back()
        return reason

    def _again(self, kept: Sequence[Tensor]) -> Correctness | None:
        """None where the outputs are bitwise those of the first call."""
        outputs = self._outputs()
        equal = all(torch.equal(bits(one), bits(other)) for one, other in zip(outputs, kept, strict=True))
        judged = None if equal else judge(outputs, self._yardstick)
        self._forget(outputs)
        return judged

    def _outputs(self) -> tuple[Tensor, ...]:
        poison_free_memory(self._sizes, self._device)
        output = self._call()
        outputs = output if isinstance(output, tuple) else (output,)
        forms = [(tuple(one.shape), one.dtype) for one in outputs]
        if forms != self._forms:
            raise _UnfitError(f"its output is {_written(forms)}, expected is {_written(self._forms)}")
        if self._given.changed:
            raise _UnfitError("it changes its inputs")
        return outputs

    def _forget(self, outputs: Sequence[Tensor]) -> None:
        """Nothing that lies there may be taken for a later call's work."""
        poison_outputs(outputs, spare=self._given.all)


def _written(forms: Sequence[tuple[tuple[int, ...], torch.dtype]]) -> str:
    """`bfloat16 8×16`"""
    return " and ".join(
        f"{str(dtype).removeprefix('torch.')} {'×'.join(map(str, shape)) or 'scalar'}" for shape, dtype in forms
    )
