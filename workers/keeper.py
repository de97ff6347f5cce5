"""Keeps processes running: starts each in a group of its own, restarts what dies, and stops all of it.

Every process is tied to this one by the lifeline, so that not even kill -9 of the keeper leaves one behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from profiles import lifeline

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0
STEADY_S = 60.0
STOP_S = 8.0
LOG_BYTES = 8 << 20


@dataclass(slots=True, kw_only=True)
class Service:
    """`command` is what the lifeline starts (`module NAME ARGS…` or `exec PROGRAM ARGS…`). One that is `needed` by the
    others stops after them."""

    name: str
    command: tuple[str, ...]
    log: Path
    needed: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    delay_s: float = FIRST_DELAY_S
    start_at: float | None = None

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        _shorten(self.log)
        mode, *target = self.command
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                lifeline.command(mode, *target),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=lifeline.environment(**self.environment),
                start_new_session=True,
            )
        self.started, self.start_at = time.monotonic(), None

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """To the first process alone: it knows how to stop the others."""
        if self.process is not None and self.runs:
            self.process.send_signal(number)

    def end(self) -> None:
        """Kill what is left of the group."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process = None


class Keeper:
    """`say` is told what happens, one line each. The calling thread is the processes' parent: it must live on."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._services: list[Service] = []

    def start(self, service: Service) -> None:
        service.start()
        self._services.append(service)

    def look(self) -> None:
        """Restart what died: soon at first, later and later while it goes on dying."""
        now = time.monotonic()
        for service in self._services:
            if service.start_at is not None:
                if now >= service.start_at:
                    service.start()
            elif not service.runs:
                self._plan_restart(service, now)

    def _plan_restart(self, service: Service, now: float) -> None:
        status = service.process.wait() if service.process else None
        if now - service.started > STEADY_S:
            service.delay_s = FIRST_DELAY_S
        self._say(f"{service.name} {_how(status)}; restarting it in {service.delay_s:g} s (see {service.log})")
        service.end()
        service.start_at = now + service.delay_s
        service.delay_s = min(2 * service.delay_s, LONGEST_DELAY_S)

    def stop(self) -> None:
        """Ask all to stop, then kill; returns when nothing is left."""
        _stop([service for service in self._services if not service.needed])
        _stop([service for service in self._services if service.needed])
        self._services = []


def _stop(services: Sequence[Service]) -> None:
    for service in services:
        service.signal(signal.SIGTERM)
    deadline = time.monotonic() + STOP_S
    while any(service.runs for service in services) and time.monotonic() < deadline:
        time.sleep(0.02)
    for service in services:
        service.end()


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def _shorten(log: Path) -> None:
    """Keep one older log beside a long one."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".old.log"))
