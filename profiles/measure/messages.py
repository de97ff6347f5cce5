"""What a forked process says to the one that forked it: protocol events, which are passed on, and its own results."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from profiles.measure.compile_report import CompileReport
from profiles.protocol import CeilingsMeasured, Event, Finished, Progress, Started
from profiles.results import FailureKind, Run
from profiles.visits import Walked


class Passed(msgspec.Struct, frozen=True, kw_only=True, tag="passed"):
    """A variant got through this process's work; with what that was to find out."""

    variant: str
    first_call_ns: int | None = None
    walked: Walked | None = None
    compiled: CompileReport | None = None


class NewShape(msgspec.Struct, frozen=True, kw_only=True, tag="new_shape"):
    """The first and the second call at a neighbouring shape, in ns; or `note` says why there are none."""

    variant: str
    first_ns: int | None = None
    second_ns: int | None = None
    note: str | None = None


class Visiting(msgspec.Struct, frozen=True, kw_only=True, tag="visiting"):
    """Where on its walk a variant is: should its process die, this is where it died."""

    variant: str
    where: str


class Timed(msgspec.Struct, frozen=True, kw_only=True, tag="timed"):
    """A variant's run as far as it is before its traced pass: should the process die in one, the times are kept."""

    run: Run


class WindowMeasured(msgspec.Struct, frozen=True, kw_only=True, tag="window"):
    """What two events hold beside the kernel between them, in ns; None where that cannot be told."""

    ns: float | None


class Trouble(msgspec.Struct, frozen=True, kw_only=True, tag="trouble"):
    """The process ends early. `kind` is what that means for the variant at work, if one is."""

    message: str
    kind: FailureKind


Message = (
    Started | CeilingsMeasured | Progress | Finished | Passed | NewShape | Visiting | Timed | WindowMeasured | Trouble
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Message)


class Outbox:
    """Writes one message per line to a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, message: Message | Event) -> None:
        line = memoryview(_encoder.encode(message) + b"\n")
        while line:
            line = line[os.write(self._descriptor, line) :]


class Inbox:
    """Cuts what arrives in pieces into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes) -> Iterator[Message]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield _decoder.decode(line)
