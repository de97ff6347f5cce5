"""Why torch refused: the reason behind the error that a pinned backend raises."""

from __future__ import annotations

from typing import Any

from profiles.measure import loading
from profiles.measure.failures import refused
from profiles.results import Run, RunStatus
from profiles.variant import parse_variant


def explained(run: Run, module: loading.OperationModule, inputs: Any) -> Run:
    """The run with its receipt and torch's first reason where it was refused; any other run as it is.

    `inputs` is None where not even they could be made.

    The error of a pinned backend names no reason ("No available kernel"), torch's check of that backend does.
    """
    if run.status is not RunStatus.REFUSED or run.failure is None or inputs is None:
        return run
    receipt = loading.receipt(module, parse_variant(run.variant).implementation, inputs)
    if receipt is None:
        return run
    return refused(run.variant, receipt.refusals.get(receipt.asked, run.failure.message), receipt)
