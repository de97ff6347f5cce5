"""The columns of the variant table: a head, and what a run shows in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from app.charts.bars import small_bar
from app.charts.doubts import Doubts
from app.charts.limits import limit_cell
from app.charts.markup import ZERO, missing
from app.charts.output import output
from app.charts.receipt import what_ran
from app.charts.verdict import speed_up_cell
from app.formatting import count
from profiles.comparison.doubts import shared_doubts, shared_notes
from profiles.comparison.entry import Entry, State, in_state
from profiles.comparison.figures import TimeUnit, digits, mib, rate, time_unit
from profiles.comparison.recording import count_doubt
from profiles.comparison.roles import traced_ns
from profiles.comparison.speed import TITLES, By, offered
from profiles.comparison.table import Row
from profiles.results import Metric, Run

ALWAYS = (By.GPU_TIME, By.CALL_TIME)
FIGURES = (State.MEASURED, State.INCORRECT)
SPREAD = "p25–p75"
HEADS = {
    By.GPU_TIME: "GPU time",
    By.CALL_TIME: "Back-to-back",
    By.GRAPH_TIME: "As a graph",
    By.SYNC_TIME: "Lone call",
    By.HOST_TIME: "Host",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What all rows of one table share: units, the bars' common scale, whose speed the ratios are against.

    `shared` are the doubts that every row has, by metric, and `shared_notes` those of every speed-up.
    """

    unit: TimeUnit
    by: By
    base_key: str | None
    on_cpu: bool
    longest_ns: int
    times: tuple[By, ...]
    bounded: bool
    graphs: bool
    tokens: bool
    flops: bool
    limits: bool = False
    shared: Mapping[str, str] = field(default_factory=dict)
    shared_notes: tuple[str, ...] = ()
    doubts: Doubts = field(default_factory=Doubts)

    def mark(self, figure: str, metric: Metric) -> str:
        """Marked where the metric is in doubt; what every row has in doubt is marked in the head."""
        return self.doubts.mark(figure, None if metric.name in self.shared else metric.doubt)


@dataclass(frozen=True, slots=True)
class Column:
    """`cell` gives the inner HTML for a run that has figures. Columns that are `wide` go on a phone.

    `beside` tells the head what stands beside the value, such as the samples' spread; `doubts` are the reasons that
    hold for all of the column's values.
    """

    head: str
    unit: str
    cell: Callable[[Row[Entry], Run, Frame], str]
    number: bool = True
    beside: str = ""
    wide: bool = True
    doubts: tuple[str, ...] = ()

    @property
    def classes(self) -> str:
        return " ".join([*(["num"] if self.number else []), *(["wide"] if self.wide else [])])


def frame(rows: Sequence[Row[Entry]], *, by: By, base_key: str | None) -> Frame:
    entries = [row.entry for row in rows]
    runs = [e.run for e in in_state(entries, *FIGURES) if e.run is not None]
    times = offered(entries)
    return Frame(
        unit=time_unit(entries[0].workload),
        by=by,
        base_key=base_key,
        on_cpu=By.GPU_TIME not in times if times else _on_cpu(entries),
        longest_ns=max((traced_ns(run) for run in runs), default=0),
        times=_shown(times, by) or ((By.CALL_TIME,) if _on_cpu(entries) else ALWAYS),
        bounded=any(row.speed_up is not None and row.speed_up.judged is not None for row in rows),
        graphs=any(run.counts is not None and run.counts.graph_launches for run in runs),
        tokens=any(run.metric("tokens_per_s") for run in runs),
        flops=any(run.metric("useful_tflops") for run in runs),
        limits=any(row.standing is not None and row.standing.share is not None for row in rows),
        shared=shared_doubts(in_state(entries, *FIGURES)),
        shared_notes=shared_notes([row.speed_up.judged.notes for row in rows if row.speed_up and row.speed_up.judged]),
    )


def _shown(times: Sequence[By], by: By) -> tuple[By, ...]:
    """More than two or three times side by side are no table to read; the others are a press away."""
    return tuple(time for time in times if time in (*ALWAYS, by))


def _on_cpu(entries: Sequence[Entry]) -> bool:
    """By what is known before anything is measured, so that the columns stay as they are when the first run comes."""
    devices = {entry.environment.device for entry in entries if entry.environment is not None}
    return devices == {"cpu"}


def columns(frame: Frame) -> tuple[Column, ...]:
    """All that has something to say for this kind of device and operation."""
    principal = frame.times[0]
    against = f"against {frame.base_key}" if frame.base_key else "no baseline"
    return (
        Column("What ran", "", lambda _, run, __: what_ran(run), number=False),
        *_counted(frame),
        Column(
            _time_title(principal),
            frame.unit.symbol,
            _time_cell(principal),
            beside=SPREAD,
            wide=principal is not frame.by,
            doubts=_shared(frame, principal),
        ),
        Column("", "by role", lambda _, run, f: small_bar(run, f.longest_ns), number=False),
        *(
            Column(
                _time_title(by),
                frame.unit.symbol,
                _time_cell(by),
                beside=SPREAD if by is frame.by else "",
                wide=by is not frame.by,
                doubts=_shared(frame, by),
            )
            for by in frame.times[1:]
        ),
        Column(
            "Speed-up",
            against,
            lambda row, _, f: speed_up_cell(row, f.doubts, bounded=f.bounded, shared=f.shared_notes),
            beside="99 % interval" if frame.bounded else "",
            wide=False,
            doubts=frame.shared_notes,
        ),
        *([Column("Tokens", "per s", _tokens, doubts=_shared(frame, "tokens_per_s"))] if frame.tokens else []),
        *([Column("Useful", "TFLOP/s", _flops, doubts=_shared(frame, "useful_tflops"))] if frame.flops else []),
        *([Column("Of limit", "", lambda row, _, __: limit_cell(row.standing), number=False)] if frame.limits else []),
        Column("Peak mem", "MiB", _memory, doubts=_shared(frame, "peak_memory")),
        Column("Output", "rel. error", lambda _, run, f: output(run, f.doubts)),
    )


def _shared(frame: Frame, metric: str) -> tuple[str, ...]:
    return (frame.shared[metric],) if metric in frame.shared else ()


def _counted(frame: Frame) -> tuple[Column, ...]:
    if frame.on_cpu:
        return (Column("Operators", "per forward", _count("operators"), wide=False),)
    graphs = (Column("Graphs", "launched", _count("graph_launches")),) if frame.graphs else ()
    return (
        Column("Kernels", "per forward", _count("kernels"), wide=False),
        Column("Copies", "", _count("memcpy")),
        Column("Fills", "", _count("memset")),
        Column("Launches", "", _count("launches")),
        *graphs,
    )


def _count(name: str) -> Callable[[Row[Entry], Run, Frame], str]:
    def cell(_: Row[Entry], run: Run, frame: Frame) -> str:
        number = None if run.counts is None else getattr(run.counts, name)
        if number is None:
            return missing(_why_uncounted(run))
        return frame.doubts.mark(count(number), count_doubt(run, name)) if number else ZERO

    return cell


def _why_uncounted(run: Run) -> str:
    return run.trace_health[0].message if run.trace_health else "not counted: the run has no trace"


def _time_title(by: By) -> str:
    return HEADS[by]


def _time_cell(by: By) -> Callable[[Row[Entry], Run, Frame], str]:
    def cell(_: Row[Entry], run: Run, frame: Frame) -> str:
        metric = run.metric(by)
        spread = by in (frame.times[0], frame.by)
        if metric is None:
            return missing(f"no {TITLES[by]} was recorded")
        figure = frame.mark(frame.unit.write(metric.value), metric)
        return f"{figure}{_spread(metric, frame.unit)}" if spread else figure

    return cell


def _spread(metric: Metric, unit: TimeUnit) -> str:
    if metric.low is None or metric.high is None:
        return '<span class="fs-spread"></span>'
    samples = f", {len(metric.samples)} samples" if metric.samples else ""
    title = f"{metric.statistic}, {metric.interval or 'interval'} of the samples{samples}"
    return f'<span class="fs-spread" title="{escape(title)}">{unit.span(metric.low, metric.high)}</span>'


def _tokens(_: Row[Entry], run: Run, frame: Frame) -> str:
    return _metric(run.metric("tokens_per_s"), rate, frame)


def _flops(_: Row[Entry], run: Run, frame: Frame) -> str:
    return _metric(run.metric("useful_tflops"), lambda value: f"{value:,.1f}" if value >= 1 else digits(value), frame)


def _memory(_: Row[Entry], run: Run, frame: Frame) -> str:
    return _metric(run.metric("peak_memory"), mib, frame)


def _metric(metric: Metric | None, write: Callable[[float], str], frame: Frame) -> str:
    if metric is None:
        return missing("not recorded")
    return frame.mark(write(metric.value), metric)
