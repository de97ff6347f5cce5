"""What a trace's findings put in doubt of what is drawn of it: short, for the line under the canvas and for files."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from profiles.results import Finding


class Quantity(StrEnum):
    """What a timeline shows of the work, in the words that follow it into doubt."""

    CALLS = "calls"
    TIMES = "times"
    BUSY = "busy times"
    GAPS = "gaps"
    POSITIONS = "positions"


OF_ALL = {
    Quantity.CALLS: {"kernels", "memcpy", "memset"},
    Quantity.TIMES: {"kernel_sum_ns"},
    Quantity.BUSY: {"kernel_busy_ns", "gpu_busy_ns"},
    Quantity.GAPS: {"idle", "devices.idle"},
    Quantity.POSITIONS: {"timeline"},
}
OF_A_STEP = {
    Quantity.CALLS: {"steps.kernels", "counts", "counts.kernels", "counts.memcpy", "counts.memset"},
    Quantity.TIMES: {"traced_device_time"},
}
IN_NO_STEP = "launched_before_window"
ON_A_CPU = "no_gpu_activity"
SHORT = {
    "correlations_reused": "{} launches share a correlation",
    "duplicate_records": "{} records stand twice in the file",
    "gpu_records_missing": "{} launches and no GPU records",
    "graphs_as_wholes": "{} graphs recorded as wholes",
    "invalid_records": "{} impossible records left out",
    IN_NO_STEP: "{} slices of earlier work",
    "launches_without_slices": "{} launches without slices",
    "malformed_records": "{} records could not be read",
    "no_gpu_records": "no records of the GPU",
    "other_accelerator": "records of other hardware left out",
    "slices_before_launches": "{} slices ahead of their launch",
    "slices_long_after_launches": "{} slices long after their launch",
    "slices_without_launches": "{} slices without a launch",
    "suspicious_unit": "times perhaps in another unit",
    "truncated": "the file’s end is missing",
    "unexplained_gaps": "{} gaps unexplained",
    "unstable_counts": "equal steps differ",
}


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """One finding that matters here: `text` says so in a few words, `message` in full."""

    code: str
    text: str
    message: str
    about: tuple[Quantity, ...]


def doubts(health: Iterable[Finding], *, of_step: bool) -> tuple[Doubt, ...]:
    """Of one step, what is doubtful of steps counts too, and work from before the recording does not. That nothing of
    a GPU was recorded is no doubt about the operators that are drawn instead."""
    silent = {ON_A_CPU, IN_NO_STEP} if of_step else {ON_A_CPU}
    told = [finding for finding in health if finding.code not in silent]
    found = ((finding, _about(finding, of_step=of_step)) for finding in told)
    return tuple(_doubt(finding, about) for finding, about in found if about)


def _about(finding: Finding, *, of_step: bool) -> tuple[Quantity, ...]:
    named = set(finding.doubtful)
    return tuple(
        quantity
        for quantity in Quantity
        if named & (OF_ALL[quantity] | (OF_A_STEP.get(quantity, set()) if of_step else set()))
    )


def _doubt(finding: Finding, about: tuple[Quantity, ...]) -> Doubt:
    short = SHORT.get(finding.code)
    what = finding.message if short is None else _counted(short, finding.count)
    return Doubt(code=finding.code, text=f"{what}: {_listed(about)} doubtful", message=finding.message, about=about)


def _counted(short: str, count: int) -> str:
    """`213 gaps unexplained`, `1 gap unexplained`."""
    words = short.format(f"{count:,}").split(" ")
    if count == 1 and short.startswith("{}"):
        words[1] = {"launches": "launch"}.get(words[1], words[1].removesuffix("s"))
    return " ".join(words)


def _listed(about: tuple[Quantity, ...]) -> str:
    *most, last = map(str, about)
    return f"{', '.join(most)} and {last}" if most else last
