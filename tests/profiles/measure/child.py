"""Runs the measuring child as a supervisor would, and listens to it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from profiles.lifeline import command, environment
from profiles.plan import Order, Plan
from profiles.protocol import Event, Finished, MeasureSpec, Progress, Started
from profiles.results import Run
from profiles.workload import DType, Workload

QUICK = Plan(samples=20, steps=2, budget_s=1.0)
SMALL = Workload(
    operation="attention",
    axes={"batch": 1, "heads": 2, "kv_heads": 2, "seq_q": 32, "seq_kv": 32, "head_dim": 16, "causal": True},
    dtype=DType.FP32,
)


@dataclass
class Child:
    process: subprocess.Popen[bytes]
    events: Iterator[Event]

    @property
    def forks(self) -> list[int]:
        """The processes that the child's first process has forked and that still live."""
        pid = self.process.pid
        return [int(fork) for fork in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def started(
    directory: Path,
    *,
    workload: Workload = SMALL,
    variants: tuple[str, ...] = ("naive",),
    plan: Plan = QUICK,
    device: str = "cpu",
    program: str = "profiles.measure",
    ceilings: bool = False,
    ceilings_known: tuple[str, ...] = (),
    silence_s: float | None = None,
    twins: bool = False,
    **settings: str,
) -> Iterator[Child]:
    """The child at work; killed at the end if it still is."""
    reading, writing = os.pipe()
    spec = MeasureSpec(
        workload=workload,
        variants=variants,
        plan=plan,
        device=device,
        directory=str(directory),
        events_fd=writing,
        ceilings=ceilings,
        ceilings_known=ceilings_known,
        silence_s=silence_s,
        twins=twins,
    )
    path = directory / "spec.json"
    path.write_bytes(msgspec.json.encode(spec))
    process = subprocess.Popen(
        command("module", program, str(path)),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(writing,),
        start_new_session=True,
        env=environment(OMP_NUM_THREADS="1", **settings),
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as lines, process:
        try:
            yield Child(process, (msgspec.json.decode(line, type=Event) for line in lines))
        finally:
            process.kill()


@dataclass
class Heard:
    """Everything that a child said until it ended."""

    events: list[Event]
    code: int
    stderr: str

    @property
    def environments(self) -> list[Started]:
        return [event for event in self.events if isinstance(event, Started)]

    @property
    def progress(self) -> list[Progress]:
        return [event for event in self.events if isinstance(event, Progress)]

    @property
    def finished(self) -> dict[str, Finished]:
        ends = [event for event in self.events if isinstance(event, Finished)]
        assert len({end.run.variant for end in ends}) == len(ends), "a variant has ended twice"
        return {end.run.variant: end for end in ends}

    @property
    def runs(self) -> dict[str, Run]:
        return {variant: end.run for variant, end in self.finished.items()}


def heard_to_the_end(child: Child) -> Heard:
    events = list(child.events)
    _, stderr = child.process.communicate(timeout=60)
    return Heard(events, child.process.returncode, stderr.decode())


def isolated(plan: Plan) -> Plan:
    return msgspec.structs.replace(plan, order=Order.ISOLATED)
