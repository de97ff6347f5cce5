"""Kineto's categories, tracks and clock, of every age and vendor, into the normal form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from profiles.results import Finding
from profiles.trace.columns import NO_NAME, SliceColumns, nameless
from profiles.trace.doubts import LEFT_OUT
from profiles.trace.errors import TraceTooLarge
from profiles.trace.kineto_document import DeviceProperties, Event, KinetoDocument, Loose
from profiles.trace.kineto_frames import FrameColumns
from profiles.trace.launch_shapes import LaunchShapes
from profiles.trace.model import ABSENT, GPU_KINDS, Device, SliceKind, Trace, TraceLimits, Track
from profiles.trace.ranks import Rank, rank_of
from profiles.trace.wording import counted

_IGNORED = -1
_CATEGORIES = {
    "kernel": SliceKind.KERNEL,
    "memcpy": SliceKind.MEMCPY,
    "gpu_memcpy": SliceKind.MEMCPY,
    "memset": SliceKind.MEMSET,
    "gpu_memset": SliceKind.MEMSET,
    "operator": SliceKind.OPERATOR,
    "cpu_op": SliceKind.OPERATOR,
    "user_annotation": SliceKind.ANNOTATION,
}
_PYTHON, _MARKS_CATEGORY = "python_function", "user_annotation"
_ANNOTATION_NAMES = ("ProfilerStep#", "fusescope.")
_OTHER_ACCELERATOR = re.compile(r"(mtia|hpu|xpu|privateuse1)_(?!runtime|driver)")
_PHASE_COMPLETE, _PHASE_METADATA = "X", "M"
_MOST_TRACKS = 10_000  # of streams and threads; a timeline can number six times as many rows


class _Kinds(dict[str | None, int]):
    """Category to slice kind, _IGNORED for the rest: each distinct text is looked at once."""

    def __missing__(self, category: str | None) -> int:
        folded = (category or "").lower()
        kind: int = _CATEGORIES.get(folded, _IGNORED)
        if folded.endswith("runtime"):
            kind = SliceKind.RUNTIME
        elif folded.endswith("driver"):
            kind = SliceKind.DRIVER
        self[category] = kind
        return kind


def read_kineto(blocks: Iterator[bytes], limits: TraceLimits) -> Trace:
    document = KinetoDocument(blocks, limits)
    recording = _Recording()
    for events in document.events():
        recording.add(events)
    return recording.trace(document)


class _Recording:
    """Collects slices and the names of processes and threads, which may come after the slices that they name."""

    def __init__(self) -> None:
        self._columns = SliceColumns()
        self._kinds = _Kinds()
        self._names: dict[str, int] = {}
        self._tracks: dict[tuple[Loose, Loose, bool], int] = {}
        self._labels: dict[tuple[str, Loose, Loose], str] = {}
        self._shapes = LaunchShapes()
        self._frames = FrameColumns()
        self._nameless = 0

    def add(self, events: list[Event]) -> None:
        kinds, frames = self._kinds, self._frames
        events, python = self._split(events)
        rows = [event for event in events if event.ph == _PHASE_COMPLETE and kinds[event.cat] != _IGNORED]
        marks = [event for event in rows if event.cat == _MARKS_CATEGORY and frames.is_mark(event.name)]
        if marks:
            frames.add([(event, frames.numbers[event.name]) for event in marks], self._track)
            rows = [event for event in rows if not frames.is_mark(event.name)]
        self._columns.add(
            kind=[self._kind(kinds[event.cat], event.name) for event in rows],
            name=[self._name(event.name) for event in rows],
            track=[self._track(event) for event in rows],
            start=[bytes(event.ts) for event in rows],
            duration=[bytes(event.dur) for event in rows],
            correlation=[_number(event.args.correlation) if event.args else ABSENT for event in rows],
            shape=[self._shapes.number(event.args) if event.args else ABSENT for event in rows],
        )
        frames.add(python, self._track)
        stacked = [event for event in rows if (args := event.args) and (args.call_stack or args.modules)]
        frames.add_stacks(stacked, self._track)
        if len(self._tracks) > _MOST_TRACKS:
            raise TraceTooLarge(f"more streams and threads than the limit of {_MOST_TRACKS:,}")
        for event in events:
            if event.ph == _PHASE_METADATA and event.args is not None:
                self._labels[event.name or "", event.pid, event.tid] = str(event.args.name)

    def _split(self, events: list[Event]) -> tuple[list[Event], list[tuple[Event, int]]]:
        """What is no Python frame; and the frames that may be causes, with their labels. In one go: most records of a
        file with Python are its frames."""
        others: list[Event] = []
        python: list[tuple[Event, int]] = []
        label = self._frames.numbers
        for event in events:
            if event.cat != _PYTHON:
                others.append(event)
            elif (number := label[event.name]) >= 0 and event.ph == _PHASE_COMPLETE:
                python.append((event, number))
        return others, python

    def trace(self, document: KinetoDocument) -> Trace:
        names, slices, findings = self._columns.finish(tuple(self._names))
        tracks = tuple(self._named_track(key) for key in self._tracks)
        rank, unclear = _rank(document)
        other = next(filter(None, (_OTHER_ACCELERATOR.match(str(category)) for category in self._kinds)), None)
        return Trace(
            format="kineto",
            names=names,
            tracks=tracks,
            slices=slices,
            devices=_devices(tracks, document.devices),
            findings=(*_document_findings(document), *findings, *nameless(self._nameless), *unclear),
            records=document.records,
            epoch_ns=document.epoch_ns,
            other_accelerator=other[1] if other else None,
            shapes=self._shapes.shapes(),
            rank=rank,
            frames=self._frames.finish(),
        )

    @staticmethod
    def _kind(kind: int, name: str | None) -> int:
        """Steps and our own marks are annotations, also in the old files that have no category for them."""
        if kind == SliceKind.OPERATOR and name and name.startswith(_ANNOTATION_NAMES):
            return SliceKind.ANNOTATION
        return kind

    def _name(self, name: str | None) -> int:
        if not name:
            self._nameless += 1
            name = NO_NAME
        return self._names.setdefault(name, len(self._names))

    def _track(self, event: Event) -> int:
        process, row, args, tracks = event.pid, event.tid, event.args, self._tracks
        on_gpu = self._kinds[event.cat] in GPU_KINDS
        if on_gpu and args is not None:
            process = process if args.device is None else args.device
            row = row if args.stream is None else args.stream
        return tracks.setdefault((process, row, on_gpu), len(tracks))

    def _named_track(self, key: tuple[Loose, Loose, bool]) -> Track:
        process, row, on_gpu = key
        if on_gpu:
            device = _number(process)
            return Track(process=f"GPU {process}", row=f"stream {row}", device=device)
        named = self._labels.get(("process_name", process, 0))
        return Track(
            process=f"{named} ({process})" if named else f"process {process}",
            row=self._labels.get(("thread_name", process, row), f"thread {row}").strip(),
        )


def _number(value: Loose) -> int:
    try:
        number = ABSENT if value is None else int(value)
    except (ValueError, OverflowError):
        return ABSENT
    return number if abs(number) < 2**63 else ABSENT


def _devices(tracks: tuple[Track, ...], properties: list[DeviceProperties]) -> tuple[Device, ...]:
    """Of the devices with slices. Visible devices are renumbered by some vendors: a name that all share still holds."""
    by_index = {found.id: found.name for found in properties}
    names = set(by_index.values())
    shared = names.pop() if len(names) == 1 else None
    used = sorted({track.device for track in tracks if track.device is not None})
    return tuple(Device(index=index, name=by_index.get(index, shared)) for index in used)


def _rank(document: KinetoDocument) -> tuple[Rank | None, tuple[Finding, ...]]:
    if document.distributed in (None, b"null"):
        return None, ()
    host, group = document.texts.get("host_name"), document.texts.get("group_trace_id")
    try:
        return rank_of(document.distributed, host=host, trace_group=group), ()
    except ValueError as error:
        message = f"distributedInfo tells no rank that can be read ({error})"
        return None, (Finding(code="unclear_rank", message=message, count=1),)


def _document_findings(document: KinetoDocument) -> Iterator[Finding]:
    if document.cut_short:
        yield Finding(
            code="truncated",
            message=f"the list of events has no closing bracket: {counted(document.records, 'whole event')} read, later"
            " ones may be missing",
            count=1,
            doubtful=("launches", *LEFT_OUT),
        )
    if document.repaired:
        yield Finding(
            code="repaired_text",
            message=f"{counted(document.repaired, 'event')} in invalid JSON (control characters, escapes, encoding,"
            " bare infinities), read as clearly meant",
            count=document.repaired,
        )
    if document.malformed:
        yield Finding(
            code="malformed_records",
            message=f"{counted(document.malformed, 'record')} with fields of the wrong kind, left out",
            count=document.malformed,
            doubtful=("launches", *LEFT_OUT),
        )
