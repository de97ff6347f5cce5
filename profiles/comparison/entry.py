"""One compared run, as the comparison reads it: from the database, or straight from a job's results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

import msgspec

from profiles.ceilings import Ceilings
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Results, Run, RunStatus
from profiles.workload import Workload

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Entry(Protocol):
    """`run` is None while it is not measured; `pending` then says whether it still may be. `ceilings` are those of its
    environment, None where nobody measured them. Runs of one trial, and those alone, share a `trial_id`."""

    @property
    def key(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def run(self) -> Run | None: ...
    @property
    def pending(self) -> bool: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def environment(self) -> Environment | None: ...
    @property
    def ceilings(self) -> Ceilings | None: ...
    @property
    def trial_id(self) -> int: ...


EntryT = TypeVar("EntryT", bound=Entry)
Entry_co = TypeVar("Entry_co", bound=Entry, covariant=True)


class State(StrEnum):
    """Where an entry stands, in the order of the table's rows. `missing`: its trial ended without it."""

    MEASURED = "measured"
    INCORRECT = "incorrect"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MISSING = "missing"
    PENDING = "pending"
    REFUSED = "refused"


STATES = {
    RunStatus.SUCCEEDED: State.MEASURED,
    RunStatus.INCORRECT: State.INCORRECT,
    RunStatus.FAILED: State.FAILED,
    RunStatus.CANCELLED: State.CANCELLED,
    RunStatus.REFUSED: State.REFUSED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEntry:
    """An entry that no database holds."""

    key: str
    variant: str
    run: Run
    workload: Workload
    plan: Plan
    environment: Environment
    trial_id: int = 0
    ceilings: Ceilings | None = None
    pending: bool = False


def state(entry: Entry) -> State:
    if entry.run is not None:
        return STATES[entry.run.status]
    return State.PENDING if entry.pending else State.MISSING


def in_state(entries: Iterable[EntryT], *states: State) -> tuple[EntryT, ...]:
    return tuple(entry for entry in entries if state(entry) in states)


def letters(position: int) -> str:
    """The key of the entry at `position`, counted from 0: A … Z, AA, AB …"""
    key = ""
    position += 1
    while position:
        position, digit = divmod(position - 1, len(ALPHABET))
        key = ALPHABET[digit] + key
    return key


def entries_of(results: Results) -> tuple[MeasuredEntry, ...]:
    """The entries of a job's results, trial by trial, with the keys that a comparison of them gets."""
    runs = [(number, trial, run) for number, trial in enumerate(results.trials) for run in trial.runs]
    return tuple(
        MeasuredEntry(
            key=letters(position),
            variant=run.variant,
            run=run,
            workload=trial.workload,
            plan=results.plan,
            environment=results.environment,
            trial_id=number,
            ceilings=results.ceilings,
        )
        for position, (number, trial, run) in enumerate(runs)
    )


def sections(entries: Sequence[EntryT]) -> tuple[tuple[EntryT, ...], ...]:
    """The entries of each workload, in the order in which the workloads come first."""
    grouped: dict[bytes, list[EntryT]] = {}
    for entry in entries:
        grouped.setdefault(msgspec.json.encode(entry.workload, order="sorted"), []).append(entry)
    return tuple(tuple(group) for group in grouped.values())
