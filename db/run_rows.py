"""A run and its rows: nothing is lost on the way in, and what comes back is equal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import Unstorable
from db.insertion import insert_new
from db.kernels import kernel_ids
from db.models import EnvironmentRow, KernelRow, KernelStatRow, MetricRow, RunArtefactRow, RunRow, TrialRow
from db.records import RunRecord
from db.store import SHA256
from profiles import identity
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Failure, KernelUse, Metric, Run
from profiles.workload import Workload

WIDEST = 2**63 - 1
WHOLE = Metric.__struct_fields__
IN_BRIEF = tuple(field for field in WHOLE if field not in ("samples", "builds", "at_s"))


def insert_run(
    session: Session, run: Run, *, trial_id: int, digest: str, environment_id: int | None, trace_id: int | None
) -> int:
    """The new run's id. Unstorable where a number has no exact place in a row."""
    check_storable(run)
    row = RunRow(
        trial_id=trial_id,
        variant=run.variant,
        digest=digest,
        status=run.status,
        failure_kind=run.failure and run.failure.kind,
        failure_message=run.failure and run.failure.message,
        environment_id=environment_id,
        trace_id=trace_id,
        record=_record(run),
    )
    if (started := started_at(run)) is not None:
        row.measured_at = started
    session.add(row)
    session.flush()
    session.add_all(_metric_rows(row.id, run.metrics))
    ids = kernel_ids(session, {kernel.name: kernel.role for kernel in run.kernels})
    session.add_all(_stat_rows(row.id, run.kernels, ids))
    session.add_all(RunArtefactRow(run_id=row.id, sha256=sha256) for sha256 in _named_files(run))
    return row.id


def load_runs(session: Session, run_ids: Collection[int]) -> dict[int, Run]:
    """The runs by id, three queries for all of them."""
    metrics = _metrics(session, run_ids, WHOLE)
    kernels = _kernels(session, run_ids)
    rows = session.scalars(select(RunRow).where(RunRow.id.in_(run_ids)))
    return {row.id: _run(row, metrics=metrics[row.id], kernels=kernels[row.id]) for row in rows}


def load_briefs(session: Session, run_ids: Collection[int]) -> dict[int, Run]:
    """The runs by id without samples, kernels and blocks, for lists: these are what a run is large by."""
    metrics = _metrics(session, run_ids, IN_BRIEF)
    rows = session.scalars(select(RunRow).where(RunRow.id.in_(run_ids)))
    whole = {row.id: _run(row, metrics=metrics[row.id], kernels=[]) for row in rows}
    return {run_id: msgspec.structs.replace(run, blocks=(), twin=()) for run_id, run in whole.items()}


def run_digest(run: Run, *, workload: Workload, plan: Plan, environment: Environment | None) -> str:
    """SHA-256 of all that a run says and was measured under: its identity wherever it is stored."""
    return identity.digest(workload, plan, environment, run)


def environment_id(session: Session, environment: Environment | None) -> int | None:
    """The id of the environment's row, made where it is new."""
    if environment is None:
        return None
    values = {
        "digest": environment.digest,
        "device": environment.device,
        "device_name": environment.device_name,
        "record": environment,
    }
    insert_new(session, EnvironmentRow, [values], key="digest")
    return session.scalar(select(EnvironmentRow.id).where(EnvironmentRow.digest == environment.digest))


def started_at(run: Run) -> datetime | None:
    """When the run says that it was measured; None where it says nothing that is a time with a zone."""
    if run.conditions is None or run.conditions.started_at is None:
        return None
    try:
        when = datetime.fromisoformat(run.conditions.started_at)
        return when.astimezone(UTC) if when.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def check_storable(run: Run) -> None:
    """JSON has no NaN and no infinity, so a run that holds one does not survive it."""
    try:
        survives = msgspec.json.decode(msgspec.json.encode(run), type=Run) == run
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Unstorable(f"the run of {run.variant!r} cannot be stored: {error}") from error
    if not survives:
        raise Unstorable(f"the run of {run.variant!r} holds a number that is not finite")
    for kernel in run.kernels:
        numbers = (value for value in msgspec.structs.astuple(kernel) if isinstance(value, int))
        if any(abs(number) > WIDEST for number in numbers):
            raise Unstorable(f"kernel {kernel.short_name!r} of {run.variant!r} holds a number beyond 64 bits")


def failure_of(row: RunRow | TrialRow) -> Failure | None:
    if row.failure_kind is None:
        return None
    return Failure(kind=row.failure_kind, message=row.failure_message or "")


def _named_files(run: Run) -> Iterator[str]:
    """Each once; what is no hash names no file that could be there."""
    named = dict.fromkeys(artefact.sha256 for artefact in run.artefacts)
    return (sha256 for sha256 in named if SHA256.fullmatch(sha256))


def _record(run: Run) -> RunRecord:
    return RunRecord(**{field: getattr(run, field) for field in RunRecord.__struct_fields__})


def _run(row: RunRow, *, metrics: list[Metric], kernels: list[KernelUse]) -> Run:
    return Run(
        variant=row.variant,
        status=row.status,
        failure=failure_of(row),
        metrics=tuple(metrics),
        kernels=tuple(kernels),
        **msgspec.structs.asdict(row.record),
    )


def _metric_rows(run_id: int, metrics: Iterable[Metric]) -> Iterator[MetricRow]:
    for position, metric in enumerate(metrics):
        yield MetricRow(run_id=run_id, position=position, **msgspec.structs.asdict(metric))


def _metrics(session: Session, run_ids: Collection[int], fields: Sequence[str]) -> defaultdict[int, list[Metric]]:
    columns = [getattr(MetricRow, field) for field in fields]
    wanted = select(MetricRow.run_id, *columns).where(MetricRow.run_id.in_(run_ids))
    found = defaultdict[int, list[Metric]](list)
    for run_id, *values in session.execute(wanted.order_by(MetricRow.run_id, MetricRow.position)):
        found[run_id].append(Metric(**dict(zip(fields, values, strict=True))))
    return found


def _stat_rows(run_id: int, kernels: Iterable[KernelUse], ids: dict[str, int]) -> Iterator[KernelStatRow]:
    for place, kernel in enumerate(kernels):
        values = msgspec.structs.asdict(kernel)
        yield KernelStatRow(run_id=run_id, place=place, kernel_id=ids[values.pop("name")], **values)


def _kernels(session: Session, run_ids: Collection[int]) -> defaultdict[int, list[KernelUse]]:
    query = (
        select(KernelStatRow, KernelRow.name)
        .join(KernelRow, KernelRow.id == KernelStatRow.kernel_id)
        .where(KernelStatRow.run_id.in_(run_ids))
        .order_by(KernelStatRow.run_id, KernelStatRow.place)
    )
    found = defaultdict[int, list[KernelUse]](list)
    for row, name in session.execute(query):
        values = {field: getattr(row, field) for field in KernelUse.__struct_fields__ if field != "name"}
        found[row.run_id].append(KernelUse(name=name, **values))
    return found
