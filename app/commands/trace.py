"""`fusescope trace FILE`: the facts of a recording, and what is missing or impossible in it."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.commands.command import Exit
from app.commands.output import print_json, table
from profiles.comparison.figures import prose_time
from profiles.trace.errors import TraceError
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise

ERRORS = (TraceError,)
NOT_KNOWN = "not known"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a Kineto (Chrome) trace, .json or .json.gz")


def run(options: argparse.Namespace) -> Exit:
    summary = summarise(read_trace(options.file))
    if options.json:
        print_json(summary)
    else:
        print("\n".join(_described(summary)))
    return Exit.SUCCEEDED


def _described(summary: TraceSummary) -> list[str]:
    facts = [
        ("kernels", f"{summary.kernels:,}"),
        ("copies", f"{summary.memcpy:,}"),
        ("fills", f"{summary.memset:,}"),
        ("launches", f"{summary.launches:,}"),
        ("graph launches", f"{summary.graph_launches:,}"),
        ("kernels of graph launches", f"{summary.kernels_from_graph_launches:,}"),
        ("kernels with their launch", f"{summary.linked_kernels:,}"),
        ("launched before the window", _count(summary.launched_before_window)),
        ("kernel names", f"{summary.distinct_kernel_names:,}"),
        ("kernel sum", prose_time(summary.kernel_sum_ns)),
        ("kernel busy", prose_time(summary.kernel_busy_ns)),
        ("GPU busy", prose_time(summary.gpu_busy_ns)),
        ("GPU span", NOT_KNOWN if summary.gpu_span_ns is None else prose_time(summary.gpu_span_ns)),
    ]
    width = max(len(name) for name, _ in facts)
    return [*(f"{name:<{width}}  {value:>14}" for name, value in facts), *_lists(summary)]


def _lists(summary: TraceSummary) -> list[str]:
    lines: list[str] = []
    if summary.devices:
        rows = [
            (str(device.index), device.name or "", prose_time(device.kernel_busy_ns), prose_time(device.gpu_busy_ns))
            for device in summary.devices
        ]
        lines += ["", *table(("device", "name", "kernel busy", "GPU busy"), rows, right=(False, False, True, True))]
    if summary.steps:
        steps = [(step.name, _count(step.kernels)) for step in summary.steps]
        lines += ["", *table(("step", "kernels"), steps, right=(False, True))]
    if summary.health:
        lines += ["", "trace health", *(f"  {finding.message}" for finding in summary.health)]
    return lines


def _count(number: int | None) -> str:
    return NOT_KNOWN if number is None else f"{number:,}"
