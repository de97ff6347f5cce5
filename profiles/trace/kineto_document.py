"""The JSON of a Kineto (Chrome) trace: its outer form, and its events in runs, decoded into typed records."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from profiles.trace.errors import ACCEPTED, UnreadableTrace, UnsupportedFormat
from profiles.trace.json_window import JsonWindow, Span
from profiles.trace.launch_shapes import ShapeArgs
from profiles.trace.model import TraceLimits
from profiles.trace.repair import repair

_NO_TEXT = msgspec.Raw(b"")
Loose = int | str | float | None


class Args(ShapeArgs, gc=False):
    """The arguments that matter: of calls, of GPU slices (kernels also say how they were launched), of operators (the
    Python around them, in files that have no records of it), and of `M` records (`name`)."""

    correlation: Loose = None
    device: Loose = None
    stream: Loose = None
    name: Loose = None
    call_stack: Loose = msgspec.field(name="Call stack", default=None)
    modules: Loose = msgspec.field(name="Module Hierarchy", default=None)


class Event(msgspec.Struct, gc=False):
    """One record as written. `ts` and `dur` keep their text: µs decimals, which no float holds exactly."""

    ph: str = ""
    cat: str | None = None
    name: str | None = None
    ts: msgspec.Raw = _NO_TEXT
    dur: msgspec.Raw = _NO_TEXT
    pid: Loose = None
    tid: Loose = None
    args: Args | None = None


class DeviceProperties(msgspec.Struct, gc=False):
    id: int | None = None
    name: str | None = None


_EVENT = msgspec.json.Decoder(Event)
_EVENTS = msgspec.json.Decoder(list[Event])
_DEVICES = msgspec.json.Decoder(list[DeviceProperties])
_TEXTS = ("host_name", "group_trace_id")
_CUT_SHORT = "Input data was truncated"  # msgspec's words for text that is right as far as it goes
_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class KinetoDocument:
    """What surrounds the events, complete once `events` is exhausted, and what had to be done to read them."""

    def __init__(self, blocks: Iterator[bytes], limits: TraceLimits) -> None:
        self._window = JsonWindow(blocks, max_nesting=limits.max_nesting)
        self.devices: list[DeviceProperties] = []
        self.epoch_ns = 0
        self.distributed: bytes | None = None
        self.texts: dict[str, str] = {}
        self.records = 0
        self.repaired = 0
        self.malformed = 0
        self.cut_short = False

    def events(self) -> Iterator[list[Event]]:
        """All records in file order, in runs. UnreadableTrace or UnsupportedFormat where the text gives none."""
        first = self._window.peek()
        if first == b"[":
            self._window.take(b"[")
            yield from self._list()
            return
        if first != b"{":
            raise UnsupportedFormat(f"not JSON (it begins with {first.decode('ascii', 'replace')!r}); {ACCEPTED}")
        yield from self._object()
        if self._window.peek():
            raise UnreadableTrace(f"text after the trace's end, at byte {self._window.place:,}")

    def _object(self) -> Iterator[list[Event]]:
        window = self._window
        window.take(b"{")
        keys: list[str] = []
        while window.peek() != b"}":
            key = self._key()
            keys.append(key)
            if key == "traceEvents":
                yield from self._trace_events()
            else:
                self._surrounding(key, window.take_value())
            if window.peek() != b"}":
                window.take(b",")
        window.take(b"}")
        if "traceEvents" not in keys:
            _refuse_object(keys)

    def _key(self) -> str:
        place = self._window.place
        text = self._window.take_value()
        self._window.take(b":")
        try:
            return msgspec.json.decode(text, type=str)
        except _BROKEN as error:
            raise UnreadableTrace(f"broken key at byte {place:,}: {error}") from error

    def _surrounding(self, key: str, text: bytes) -> None:
        """Facts beside the events; optional, so that a file that has them in another form is still read."""
        try:
            if key == "deviceProperties":
                self.devices = _DEVICES.decode(text)
            elif key == "baseTimeNanoseconds":
                self.epoch_ns = msgspec.json.decode(text, type=int)
            elif key == "distributedInfo":
                self.distributed = text
            elif key in _TEXTS:
                self.texts[key] = msgspec.json.decode(text, type=str)
        except _BROKEN:
            self.malformed += 1

    def _trace_events(self) -> Iterator[list[Event]]:
        if self._window.peek() != b"[":
            found = self._window.take_value()[:20].decode("ascii", "replace")
            raise UnreadableTrace(f"traceEvents is {found}, expected a list of events")
        self._window.take(b"[")
        yield from self._list()
        if self.cut_short:
            raise UnreadableTrace(
                f"truncated: the file ends at byte {self._window.place:,}, within the list of events, after"
                f" {self.records:,} of them"
            )

    def _list(self) -> Iterator[list[Event]]:
        """The events from here to the list's end. Where the file ends first, `cut_short` says so: the list form may
        lack its closing bracket."""
        window = self._window
        while True:
            run = self._guessed_run()
            if run is None:
                run = self._exact_run()
            self.records += len(run)
            if run:
                yield run
            if window.text[window.at : window.at + 1] == b"]":
                window.take(b"]")
                return
            if not run and not window.grow():
                self._check_remainder()
                self.cut_short = True
                return

    def _check_remainder(self) -> None:
        """A quote too many makes the rest of the file one text without an end: that is broken, not cut short."""
        try:
            _EVENT.decode(self._window.text[self._window.at :] or b"{}")
        except msgspec.DecodeError as error:
            if str(error) != _CUT_SHORT:
                raise self._broken(self.records + 1, self._window.place, error) from error
        except UnicodeDecodeError:
            return

    def _guessed_run(self) -> list[Event] | None:
        span = self._window.cut()
        run = self._decoded(span) if span else None
        if span and run is not None:
            self._window.at = span.end
        return run

    def _exact_run(self) -> list[Event]:
        spans = list(self._window.items())
        if not spans:
            return []
        run = self._decoded(Span(spans[0].start, spans[-1].end))
        return run if run is not None else self._one_by_one(spans)

    def _decoded(self, span: Span) -> list[Event] | None:
        try:
            return _EVENTS.decode(b"[%b]" % self._window.text[span.start : span.end].strip(b", \t\r\n"))
        except _BROKEN:
            return None

    def _one_by_one(self, spans: list[Span]) -> list[Event]:
        events = [self._one(span, self.records + position) for position, span in enumerate(spans, 1)]
        run = [event for event in events if event is not None]
        self.records += len(spans) - len(run)
        return run

    def _one(self, span: Span, number: int) -> Event | None:
        """One event, repaired if need be; None for one whose fields are of the wrong kind, which is counted."""
        text = self._window.text[span.start : span.end]
        try:
            return _EVENT.decode(text)
        except _BROKEN:
            clean = repair(text)
        try:
            event = _EVENT.decode(clean)
        except msgspec.ValidationError:
            self.malformed += 1
            return None
        except _BROKEN as error:
            raise self._broken(number, self._window.offset + span.start, error) from error
        self.repaired += 1
        return event

    @staticmethod
    def _broken(number: int, place: int, error: Exception) -> UnreadableTrace:
        return UnreadableTrace(f"event {number:,}, which begins at byte {place:,}: {error}")


def _refuse_object(keys: list[str]) -> None:
    if {"schema", "nodes"} <= set(keys):
        raise UnsupportedFormat(
            f"a PyTorch execution trace (operators without times), which cannot be read here; {ACCEPTED}"
        )
    named = ", ".join(repr(key) for key in keys[:6]) or "nothing"
    raise UnreadableTrace(f"no trace: the object has no list 'traceEvents' (it has {named})")
