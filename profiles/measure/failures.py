"""What became of a variant whose code raised: refused, out of memory, or failed, with one line that says why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import torch

from profiles.measure.device import DeviceLostError
from profiles.operations.implementation import UnsupportedError
from profiles.results import Failure, FailureKind, Receipt, Run, RunStatus

LONGEST_MESSAGE = 600
# What torch says where it has no kernel for what was asked, or no compiler to make one.
_REFUSALS = re.compile(
    r"No available kernel|No viable backend|not implemented for|No working C\+\+ compiler|Cannot find a working triton"
)
_ADVICE = re.compile(r"\s*Set TORCHDYNAMO_VERBOSE=1|\s*CUDA kernel errors might be asynchronously reported")
_NO_MEMORY = re.compile(r"can't allocate memory|out of memory|not enough memory", re.IGNORECASE)


class VariantError(Exception):
    """A variant has ended without a result; `run` says how."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.failure.message if run.failure else run.variant)
        self.run = run


class YardstickError(Exception):
    """Nothing can be checked against this workload's reference: no variant is to blame."""


@contextmanager
def code_of(variant: str) -> Iterator[None]:
    """Whatever the variant's code raises inside becomes a VariantError, or DeviceLostError where that is the end."""
    try:
        yield
    except Exception as error:  # the edge between our code and what is measured, which may raise anything
        if isinstance(error, DeviceLostError) or breaks_the_device(error):
            raise DeviceLostError(_one_line(error)) from error
        raise VariantError(ended(variant, error)) from error


def ended(variant: str, error: Exception) -> Run:
    """The run that `error` makes of a variant."""
    message = _one_line(error)
    if isinstance(error, YardstickError):
        return failed(variant, FailureKind.INTERNAL, message)
    if isinstance(error, ModuleNotFoundError):
        return refused(variant, f"package {error.name} is not installed")
    if isinstance(error, ImportError):
        return refused(variant, f"cannot be imported here: {message}")
    if isinstance(error, UnsupportedError) or (isinstance(error, RuntimeError) and _REFUSALS.search(message)):
        return refused(variant, message)
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or _NO_MEMORY.search(message):
        return failed(variant, FailureKind.OUT_OF_MEMORY, message)
    return failed(variant, FailureKind.CRASHED, f"{type(error).__name__}: {message}")


def breaks_the_device(error: Exception) -> bool:
    """Whether CUDA answers every later call of this process with the same error (`torch.AcceleratorError`, once a
    plain RuntimeError); running out of memory does not."""
    return isinstance(error, RuntimeError) and "CUDA error: " in str(error) and not _NO_MEMORY.search(str(error))


def refused(variant: str, reason: str, receipt: Receipt | None = None) -> Run:
    failure = Failure(kind=FailureKind.UNSUPPORTED, message=reason)
    return Run(variant=variant, status=RunStatus.REFUSED, failure=failure, receipt=receipt)


def failed(variant: str, kind: FailureKind, message: str) -> Run:
    return Run(variant=variant, status=RunStatus.FAILED, failure=Failure(kind=kind, message=message))


def after_timing(timed: Run, ended: Run) -> Run:
    """How a variant ended that was timed before: what was found out stays, without the times of an unfinished run."""
    return msgspec.structs.replace(
        timed, status=ended.status, failure=ended.failure, metrics=(), costs=None, twin=(), deep=None
    )


def first_cause(error: BaseException) -> str:
    """What broke the capture of a CUDA graph, in a line: ending a broken one raises too, and hides the error before."""
    while error.__context__ is not None:
        error = error.__context__
    return " ".join(str(error).split("\n")[0].split()) or type(error).__name__


def _one_line(error: Exception) -> str:
    text = " ".join(_ADVICE.split(str(error))[0].split()) or type(error).__name__
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
