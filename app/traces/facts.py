"""The head of a comparison of traces: its name, and one line of facts about the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from html import escape

from app.formatting import moment, plural
from app.markup import Tone, badge, page
from db.views import ComparedTrace, ComparisonView, ImportFailureKind, ImportStatus
from profiles.trace.printable import printable
from profiles.trace.ranks import Rank
from profiles.trace.summary import TraceSummary

FORMATS = {"kineto": "Kineto JSON", "nsys-sqlite": "Nsight Systems export"}
STATES = {
    ImportStatus.QUEUED: ("waiting", Tone.IDLE),
    ImportStatus.RUNNING: ("being read", Tone.RUN),
    ImportStatus.FAILED: ("refused", Tone.IDLE),
}
NOT_THE_FILE = (ImportFailureKind.WORKER_LOST, ImportFailureKind.INTERNAL)
MOST_DEVICES = 3
UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def head_html(view: ComparisonView, *, zone: tzinfo, crumb: bool = True) -> str:
    trail = f'<div class="fs-crumb"><a href="history" target="_self">History</a> / {view.id}</div>' if crumb else ""
    facts = _of_one(view, zone) if len(view.traces) == 1 else _of_several(view, zone)
    items = "".join(f"<span>{fact}</span>" for fact in facts)
    name = escape(printable(view.name))
    return page(f'{trail}<h1 class="fs-title">{name}</h1><div class="fs-line">{items}</div>')


def device_names(summary: TraceSummary | None) -> list[str]:
    """Each once: `2 × NVIDIA H100`; GPUs that the file does not name are counted."""
    devices = summary.devices if summary is not None else ()
    names = [printable(device.name) if device.name else "" for device in devices]
    return [_several(names.count(name), name) for name in dict.fromkeys(names)]


def device_words(summary: TraceSummary | None) -> str:
    """`H100`, `2 × MI300X`: for a narrow column."""
    return ", ".join(name.replace("NVIDIA ", "").replace("AMD ", "") for name in device_names(summary))


def size_text(size_bytes: int) -> str:
    unit, factor = next(((unit, factor) for unit, factor in UNITS if size_bytes >= factor), ("bytes", 1.0))
    value = size_bytes / factor
    return f"{value:.1f} {unit}" if factor > 1 and value < 10 else f"{value:,.0f} {unit}"


def format_text(name: str) -> str:
    return FORMATS.get(name, name)


def rank_text(rank: Rank | None) -> str | None:
    """None also of a job of one process."""
    if rank is None or (rank.rank == 0 and rank.world_size in {None, 1}):
        return None
    return f"rank {rank.rank}" + (f" of {rank.world_size}" if rank.world_size is not None else "")


def state_badge(trace: ComparedTrace) -> str:
    """Empty where it is read: that is what is normal. That a worker failed is no refusal."""
    if trace.failure is not None and trace.failure.kind in NOT_THE_FILE:
        return badge("failed", Tone.BAD)
    return badge(*STATES[trace.status]) if trace.status in STATES else ""


def _of_one(view: ComparisonView, zone: tzinfo) -> list[str]:
    trace = view.traces[0]
    imported, summary = trace.imported, trace.summary
    words: list[str | None] = [
        *((size_text(imported.size_bytes),) if imported is not None else ()),
        *device_names(summary),
        format_text(summary.format) if summary is not None else None,
        rank_text(trace.contents.rank) if trace.contents is not None else None,
        f"imported {moment(imported.submitted_at, zone)}" if imported is not None else f"trace of run {trace.run_id}",
    ]
    name = imported.file_name if imported is not None else trace.variant or trace.label
    told = [f"<code>{escape(printable(name))}</code>"] if name != view.name else []
    badge_html = "" if trace.pending else state_badge(trace)  # the line below says what it waits for
    return [*told, *(escape(word) for word in words if word), *([badge_html] if badge_html else [])]


def _of_several(view: ComparisonView, zone: tzinfo) -> list[str]:
    devices = _distinct(name for trace in view.traces for name in device_names(trace.summary))
    formats = _distinct(format_text(t.summary.format) for t in view.traces if t.summary is not None)
    shown = devices if len(devices) <= MOST_DEVICES else [f"{len(devices)} kinds of device"]
    words = [plural(len(view.traces), "trace"), *shown, *formats, moment(view.created_at, zone)]
    return [escape(word) for word in words]


def _several(number: int, name: str) -> str:
    if not name:
        return plural(number, "unnamed GPU")
    return f"{number} × {name}" if number > 1 else name


def _distinct(words: Iterable[str]) -> Sequence[str]:
    return list(dict.fromkeys(words))
