"""What stands above the code: what is reproduced, how it was measured and with what, and how to run the file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from profiles.comparison.entry import Entry
from profiles.comparison.figures import time_unit, workload_label
from profiles.comparison.speed import TITLES, By
from profiles.environment import Environment
from profiles.reproduce.literals import said
from profiles.results import Metric, Run, RunStatus

WIDTH = 100
INDENT = "    "
GATED = "gated events"  # how the script times, and profiles.measure wherever it can


def header(entry: Entry, run: Run, *, name: str, filename: str, needs: str) -> str:
    """The script's docstring; `name` is `operation/variant`, `needs` the packages."""
    paragraphs = [
        f"{name}, {workload_label(entry.workload)}: checked against a float64 reference, then timed.",
        f"{INDENT}python {filename}",
        f"needs {needs} and nothing of Fusescope, from whose source the code below is taken. {_outcome(run)}",
        *_figures(entry, run),
        _circumstances(entry, run, needs),
    ]
    written = "\n\n".join(_wrapped(paragraph) for paragraph in paragraphs if paragraph)
    return f'"""{written}\n"""'


def _outcome(run: Run) -> str:
    if run.status is RunStatus.SUCCEEDED:
        return "Fusescope measured:"
    message = "" if run.failure is None else f": {said(run.failure.message)}"
    return f"Fusescope could not time it: {run.status}{message}"


def _figures(entry: Entry, run: Run) -> Iterator[str]:
    metrics = [(TITLES[by], run.metric(by)) for by in By]
    lines = [f"{INDENT}{title:<18} {_figure(entry, metric)}" for title, metric in metrics if metric is not None]
    if lines:
        yield "\n".join(lines)
    yield from (f"{title}: {said(metric.doubt)}." for title, metric in metrics if metric is not None and metric.doubt)
    yield from (note for _, metric in metrics if metric is not None for note in _method(metric))


def _method(metric: Metric) -> Iterator[str]:
    """What the script does otherwise."""
    if metric.method not in (None, GATED):
        yield "No gate holds such a call: the script's own GPU time may include waits for the host."


def _figure(entry: Entry, metric: Metric) -> str:
    unit = time_unit(entry.workload)
    words = [f"{unit.write(metric.value)} {unit.symbol}"]
    if metric.low is not None and metric.high is not None:
        words.append(f"({said(metric.interval or 'interval')} {unit.span(metric.low, metric.high)})")
    if metric.method not in (None, GATED):
        words.append(f"by: {said(metric.method or '')}")
    return " ".join(words)


def _circumstances(entry: Entry, run: Run, needs: str) -> str:
    on_cpu = entry.environment is not None and entry.environment.device == "cpu"
    words = [] if entry.environment is None else _versions(entry.environment, needs)
    words += [] if on_cpu else [f"{entry.plan.cache} cache"]
    conditions = run.conditions
    if conditions is not None and conditions.started_at is not None:
        words.append(said(conditions.started_at))
    if conditions is not None and conditions.commit is not None:
        words.append(f"Fusescope at commit {said(conditions.commit)}")
    return f"On {', '.join(words)}." if words else ""


def _versions(environment: Environment, needs: str) -> list[str]:
    """Of what the script needs, and of the device's own libraries where it is no processor."""
    known: dict[str, str | None] = {"torch": environment.torch}
    if "transformers" in needs:
        known["transformers"] = environment.transformers
    if environment.device != "cpu":
        known |= {
            "driver": environment.driver,
            "CUDA": environment.cuda,
            "cuDNN": environment.cudnn,
            "Triton": environment.triton,
        }
    known["Python"] = environment.python
    return [said(environment.device_name), *(f"{name} {said(version)}" for name, version in known.items() if version)]


def _wrapped(paragraph: str) -> str:
    return paragraph if paragraph.startswith(INDENT) else textwrap.fill(paragraph, WIDTH, break_long_words=False)
