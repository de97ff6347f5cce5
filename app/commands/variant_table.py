"""Variants side by side as text: the answer, the table, and why some have no numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.commands.output import table
from profiles import catalog
from profiles.comparison.answer import answer
from profiles.comparison.caveat import caveat
from profiles.comparison.dispatch import fall, fallen
from profiles.comparison.entry import Entry, State
from profiles.comparison.figures import listed, mib, prose_time, rate, ratio, ratio_range, time_unit, workload_label
from profiles.comparison.judgement import Judged
from profiles.comparison.limits import share_words
from profiles.comparison.parts import plain
from profiles.comparison.reason import varying_sentence
from profiles.comparison.recording import count_doubt
from profiles.comparison.speed import TITLES, By, chosen, time
from profiles.comparison.table import Row, rows
from profiles.comparison.visits import axis_noun, shape_cost, walked_cost
from profiles.results import Finding, Run
from profiles.trace.printable import printable
from profiles.verdict import VariantComparison, Verdict

NOT_MEASURED = "–"
SIGNS = {Verdict.FASTER: "▲", Verdict.SLOWER: "▼", Verdict.EQUIVALENT: "≈", Verdict.UNDECIDED: "?"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column is shown where at least one row has something to say in it."""

    title: str
    write: Callable[[Row[Entry]], str | None]
    figure: bool = True
    missing: str = NOT_MEASURED


def described(section: Sequence[Entry], *, baseline: str | None, by: str, judged: Judged | None = None) -> list[str]:
    """The lines of one section: entries of one workload. `judged` is what `judge` says of all that is compared."""
    used = chosen(section, by)
    ordered = rows(section, base_key=baseline, by=used, judged=judged)
    workload = section[0].workload
    lines = [f"{catalog.operation(workload.operation).title}: {workload_label(workload)}", *_devices(section), ""]
    lines += _table(ordered, _columns(section, used))
    lines += [f"  {row.entry.variant}: {note}" for row in ordered for note in _notes(row)]
    lines += ["", answer(section, base_key=baseline, by=used, judged=judged).text]
    warning = caveat(section, base_key=baseline, by=used, judged=judged)
    if warning is not None:
        lines.append(f"{warning.label}: {plain(warning.parts)}")
    return lines


def _devices(section: Sequence[Entry]) -> list[str]:
    found = [(e.environment.device_name, f"torch {e.environment.torch}") for e in section if e.environment]
    return [", ".join(device) for device in dict.fromkeys(found)]


def _table(ordered: Sequence[Row[Entry]], columns: Sequence[Column]) -> list[str]:
    written = [[column.write(row) for row in ordered] for column in columns]
    shown = [(c, cells) for c, cells in zip(columns, written, strict=True) if any(cells)]
    return table(
        [column.title for column, _ in shown],
        list(zip(*([cell or column.missing for cell in cells] for column, cells in shown), strict=True)),
        right=[column.figure for column, _ in shown],
    )


def _columns(section: Sequence[Entry], by: By) -> list[Column]:
    keyed = len({entry.variant for entry in section}) < len(section)
    return [
        *([Column("key", lambda row: row.entry.key, figure=False)] if keyed else []),
        Column("variant", lambda row: row.entry.variant, figure=False),
        *(_time_column(section, one) for one in dict.fromkeys((By.GPU_TIME, By.CALL_TIME, by))),
        Column("p25–p75", lambda row: _spread(row, by)),
        Column("speed-up", _speed_up),
        Column("interval", _interval),
        Column("builds", lambda row: f"{judged.builds:,}" if (judged := _judged(row)) else None),
        Column("kernels", lambda row: _counted(row, "kernels")),
        Column("copies", lambda row: _counted(row, "memcpy")),
        Column("fills", lambda row: _counted(row, "memset")),
        Column("launches", lambda row: _counted(row, "launches")),
        Column("operators", lambda row: _counted(row, "operators")),
        Column("tokens/s", lambda row: _metric(row, "tokens_per_s", rate)),
        Column("TFLOP/s", lambda row: _metric(row, "useful_tflops", _tflops)),
        Column("of limit", _of_limit, figure=False),
        Column("peak MiB", lambda row: _metric(row, "peak_memory", mib)),
        Column("rel. error", _error),
        Column("", lambda row: None if row.state is State.MEASURED else row.state, figure=False, missing=""),
    ]


def _time_column(section: Sequence[Entry], by: By) -> Column:
    unit = time_unit(section[0].workload)

    def write(row: Row[Entry]) -> str | None:
        metric = time(row.entry, by)
        return None if metric is None else unit.write(metric.value) + ("?" if metric.doubt else "")

    return Column(f"{TITLES[by]}, {unit.symbol}", write)


def _spread(row: Row[Entry], by: By) -> str | None:
    metric = time(row.entry, by)
    if metric is None or metric.low is None or metric.high is None:
        return None
    return time_unit(row.entry.workload).span(metric.low, metric.high)


def _speed_up(row: Row[Entry]) -> str | None:
    if row.is_baseline:
        return "baseline"
    if row.speed_up is None:
        return None
    sign = SIGNS[row.speed_up.judged.verdict] if row.speed_up.judged else "?" if row.speed_up.undecided else ""
    return f"{sign} {ratio(row.speed_up.ratio)}".lstrip()


def _interval(row: Row[Entry]) -> str | None:
    judged = _judged(row)
    return None if judged is None or judged.low is None or judged.high is None else ratio_range(judged.low, judged.high)


def _judged(row: Row[Entry]) -> VariantComparison | None:
    return None if row.speed_up is None else row.speed_up.judged


def _counted(row: Row[Entry], name: str) -> str | None:
    """With a question mark where it is in doubt: the notes say why."""
    run = row.entry.run
    number = None if run is None or run.counts is None else getattr(run.counts, name)
    if run is None or number is None:
        return None
    return f"{number:,}{' ?' if count_doubt(run, name) else ''}"


def _metric(row: Row[Entry], name: str, write: Callable[[float], str]) -> str | None:
    metric = row.entry.run.metric(name) if row.entry.run is not None else None
    return None if metric is None else write(metric.value)


def _of_limit(row: Row[Entry]) -> str | None:
    """`88 % memory-bound`; the sums stand with `--json` and on the page."""
    found = row.standing
    if found is None or found.share is None:
        return None
    return f"{share_words(found.share)} {found.label or ''}".rstrip()


def _tflops(value: float) -> str:
    return f"{value:,.1f}" if value >= 10 else f"{value:.2g}"


def _error(row: Row[Entry]) -> str | None:
    correctness = row.entry.run.correctness if row.entry.run is not None else None
    if correctness is None or correctness.relative_l2 is None:
        return None
    return f"{correctness.relative_l2:.1e}"


def _notes(row: Row[Entry]) -> list[str]:
    """What a reader must know beside the figures: why there are none, what is in doubt, what ran instead."""
    run = row.entry.run
    if run is None:
        return []
    notes = [f"{row.state}, {run.failure.message}"] if run.failure is not None else []
    judged = _judged(row)
    notes += [] if judged is None else [f"speed-up, {note}" for note in judged.notes]
    notes += _doubts(run)
    if run.correctness is not None and (varies := varying_sentence(run.correctness)):
        notes.append(varies)
    notes += [fall(receipt) for receipt in fallen(run)]
    notes += [*_visits(row.entry), *run.notes]
    return notes + [_found(finding) for finding in run.trace_health]


def _found(finding: Finding) -> str:
    doubtful = f" (in doubt: {', '.join(finding.doubtful)})" if finding.doubtful else ""
    return f"{printable(finding.message)}{doubtful}"


def _doubts(run: Run) -> list[str]:
    """Each reason once, with the numbers that it makes doubtful."""
    doubtful: dict[str, list[str]] = {}
    for metric in run.metrics:
        if metric.doubt:
            doubtful.setdefault(metric.doubt, []).append(metric.name)
    return [f"{listed(names)} {'is' if len(names) == 1 else 'are'} in doubt, {why}" for why, names in doubtful.items()]


def _visits(entry: Entry) -> list[str]:
    """A walk in one line; the visit to a neighbouring shape where it is dear."""
    if (found := walked_cost(entry)) is not None and entry.run is not None and entry.run.visits is not None:
        noun = axis_noun(entry.workload, entry.run.visits.axis)
        return [f"at each new {noun} {prose_time(found.first_ns)}, then {prose_time(found.second_ns)}"]
    shape = shape_cost(entry)
    if shape is None or not shape.dear:
        return []
    return [f"at a new shape {prose_time(shape.first_ns)}, then {prose_time(shape.second_ns)}"]
