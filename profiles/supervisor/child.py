"""One measuring child: started in a session of its own, heard through a pipe, ended with all that it started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec

from profiles import lifeline
from profiles.protocol import Event, MeasureSpec
from profiles.results import Failure, FailureKind
from profiles.supervisor.processes import MARK, end_group

MEASURE = ("module", "profiles.measure")
TAIL_BYTES = 64 * 1024
LINE_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1 << 20
DRAIN_S = 1.0

_decoder = msgspec.json.Decoder(Event)


class ProtocolError(Exception):
    """The child sent what is no event."""


class MeasuringChild:
    """Context manager: at its end no process of the child is left.

    `program` is what the lifeline starts, with the spec's path added: the measuring module, another one in tests.
    """

    def __init__(self, spec: MeasureSpec, *, program: tuple[str, ...] = MEASURE) -> None:
        self.mark = uuid.uuid4().hex
        self.printed_bytes = 0
        self._tail = b""
        self._line = b""
        self._oom_kills = _oom_kills()
        self._events_fd, events_fd = os.pipe()
        self._printed_fd, printed_fd = os.pipe()
        self._selector = selectors.DefaultSelector()
        try:
            self.process = self._start(spec, program, events_fd=events_fd, printed_fd=printed_fd)
        except BaseException:
            self._close()
            raise
        finally:
            os.close(events_fd)
            os.close(printed_fd)
        self._watch_pipes()

    def _start(
        self, spec: MeasureSpec, program: tuple[str, ...], *, events_fd: int, printed_fd: int
    ) -> subprocess.Popen[bytes]:
        path = Path(spec.directory) / f"spec-{self.mark}.json"
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(spec, events_fd=events_fd)))
        mode, *target = program
        return subprocess.Popen(
            lifeline.command(mode, *target, str(path)),
            stdin=subprocess.PIPE,
            stdout=printed_fd,
            stderr=printed_fd,
            env=lifeline.environment(**{MARK: self.mark}),
            pass_fds=(events_fd,),
            start_new_session=True,
        )

    def _watch_pipes(self) -> None:
        for fd in (self._events_fd, self._printed_fd):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._close()

    def _close(self) -> None:
        self._selector.close()
        os.close(self._events_fd)
        os.close(self._printed_fd)

    def end(self) -> None:
        """Kill what is left of the child; returns when it is gone."""
        end_group(self.process.pid, mark=self.mark)
        self.process.wait()

    @property
    def exited(self) -> bool:
        return self.process.poll() is not None

    def events(self, timeout_s: float) -> Iterator[Event]:
        """What came within `timeout_s`, as soon as anything came. ProtocolError at a line that is no event."""
        for key, _ in self._selector.select(timeout_s):
            data = self._read(key.fd)
            if key.fd == self._events_fd:
                yield from self._decode(data)
            else:
                self._keep(data)

    def last_events(self) -> Iterator[Event]:
        """What an exited child had still in its pipes; others that hold them open are not waited for long."""
        deadline = time.monotonic() + DRAIN_S
        while self._selector.get_map() and time.monotonic() < deadline:
            yield from self.events(0.05)

    def _read(self, fd: int) -> bytes:
        try:
            data = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(fd)
        return data

    def _decode(self, data: bytes) -> Iterator[Event]:
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > LINE_BYTES:
            raise ProtocolError(f"the child sent a line of over {LINE_BYTES >> 20} MiB")
        for line in filter(None, lines):
            try:
                yield _decoder.decode(line)
            except msgspec.DecodeError as error:
                raise ProtocolError(f"the child sent what is no event: {error}") from error

    def _keep(self, data: bytes) -> None:
        self.printed_bytes += len(data)
        self._tail = (self._tail + data)[-TAIL_BYTES:]

    def death(self) -> Failure:
        """Why the exited child ended before its work was done, with the last that it printed."""
        status, printed = self.process.wait(), self.last_lines()
        how = f"exited with status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
        if -status == signal.SIGKILL and _oom_kills() > self._oom_kills:
            return Failure(kind=FailureKind.OUT_OF_MEMORY, message=f"{how}: the machine ran out of memory")
        message = "\n".join((f"{how}: {printed[-1]}", *printed[:-1])) if printed else how
        return Failure(kind=FailureKind.CRASHED, message=message)

    def last_lines(self, most: int = 6) -> list[str]:
        lines = self._tail.decode(errors="replace").replace("\0", "").splitlines()
        return [line.rstrip()[:500] for line in lines if line.strip()][-most:]


def _oom_kills() -> int:
    """How often this machine's kernel has killed a process for memory; 0 where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
