"""Stands in for the measuring program where a test is about the protocol: `python -m tests.stand_in BEHAVIOUR… SPEC`.

A behaviour is `VARIANT=ACT`; `start=ACT` acts before the first event. Variants without one succeed. `SEED/VARIANT=ACT`
is for workloads of that seed alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from profiles.ceilings import Ceilings
from profiles.compilation import Artefact
from profiles.environment import Environment
from profiles.protocol import CeilingsMeasured, Event, Finished, MeasureSpec, Phase, Progress, Started
from profiles.results import Conditions, Metric, Run, RunStatus

ENVIRONMENT = Environment(device="cpu", device_name="Stand-in", torch="2.13.0", python="3.11", platform="test")


def main(argv: list[str]) -> None:
    *behaviours, path = argv
    spec = msgspec.json.decode(Path(path).read_bytes(), type=MeasureSpec)
    acts = dict(behaviour.removeprefix(f"{spec.workload.seed}/").split("=", 1) for behaviour in behaviours)
    _act(acts.get("start", ""), spec)
    _send(spec, Started(environment=ENVIRONMENT))
    if spec.ceilings and ENVIRONMENT.digest not in spec.ceilings_known:
        _send(spec, CeilingsMeasured(ceilings=Ceilings(exp_per_s=float(time.monotonic_ns()))))
    for variant in spec.variants:
        _send(spec, Progress(variant=variant, phase=Phase.TIMED, done=0.0, so_far="11 of 30"))
        act = acts.get(variant, "")
        trace_file = _act(act, spec)
        run = msgspec.structs.replace(_run(variant, _left(act, spec)), conditions=_conditions(act, spec))
        _send(spec, Finished(run=run, trace_file=trace_file))


def _left(act: str, spec: MeasureSpec) -> tuple[Artefact, ...]:
    """`leave:TEXT` leaves a file of generated code."""
    name, _, text = act.partition(":")
    if name != "leave":
        return ()
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    (Path(spec.directory) / sha256).write_text(text)
    return (Artefact(name="output_code.py", sha256=sha256, size_bytes=len(text.encode())),)


def _conditions(act: str, spec: MeasureSpec) -> Conditions | None:
    """`window` takes off what is known of this environment, else what it finds, which is another number every time."""
    if act != "window":
        return None
    return Conditions(window_ns=spec.windows_known.get(ENVIRONMENT.digest, float(time.monotonic_ns())))


def _run(variant: str, artefacts: tuple[Artefact, ...]) -> Run:
    time_ns = Metric(name="call_time", unit="ns", statistic="median", value=float(time.monotonic_ns() % 10**9))
    return Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(time_ns,), artefacts=artefacts)


def _send(spec: MeasureSpec, event: Event) -> None:
    os.write(spec.events_fd, msgspec.json.encode(event) + b"\n")


def _act(act: str, spec: MeasureSpec) -> str | None:  # noqa: PLR0912 - one case for each behaviour
    """The trace that the variant leaves, if it leaves any."""
    name, _, value = act.partition(":")
    match name:
        case "trace":
            shutil.copy(value, spec.directory)
            return Path(value).name
        case "trace-later":
            again = len(list(Path(spec.directory).glob("spec-*.json"))) > 1
            path = Path(value) if again else Path(value).with_name("cpu_naive.json.gz")
            shutil.copy(path, spec.directory)
            return path.name
        case "sleep":
            time.sleep(float(value))
        case "await":
            while not Path(value).exists():
                time.sleep(0.01)
        case "kill":
            os.kill(os.getpid(), getattr(signal, value))
            time.sleep(60)
        case "exit":
            sys.exit(f"Traceback (most recent call last):\n  …\nRuntimeError: {value}")
        case "quit":
            os._exit(0)
        case "allocate":
            kept = bytearray(os.urandom(1 << 20) * int(value))
            time.sleep(60)
            del kept
        case "print":
            while True:
                os.write(1, b"x" * (1 << 16))
        case "babble":
            os.write(spec.events_fd, b'{"type":"gossip"}\n')
            time.sleep(60)
        case "stray":
            subprocess.Popen(["sleep", "60"], start_new_session=True, env={**os.environ, "OF": spec.directory})
            time.sleep(float(value))
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
