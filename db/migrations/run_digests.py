"""Digests of the runs that revision 0001 stored: it digested every field, so that a new one gave a run another name.

The tables are as they were at 0001; the records are today's types, which may get fields and lose none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from db.columns import AnyText, Json, Samples
from db.records import RunRecord
from profiles.environment import Environment
from profiles.identity import digest
from profiles.plan import Plan
from profiles.results import Failure, FailureKind, KernelUse, Metric, Role, Run, RunStatus
from profiles.workload import Workload

AT_ONCE = 500
APART = ("run_id", "place", "kernel_id", "role")

TRIAL = sa.table("trial", sa.column("id"), sa.column("workload", Json(Workload)), sa.column("plan", Json(Plan)))
ENVIRONMENT = sa.table("environment", sa.column("id"), sa.column("record", Json(Environment)))
RUN = sa.table(
    "run",
    sa.column("id"),
    sa.column("trial_id"),
    sa.column("environment_id"),
    sa.column("digest"),
    sa.column("variant"),
    sa.column("status"),
    sa.column("failure_kind"),
    sa.column("failure_message", AnyText),
    sa.column("record", Json(RunRecord)),
)
METRIC = sa.table(
    "metric",
    sa.column("run_id"),
    sa.column("position"),
    *(sa.column(name, AnyText) for name in ("name", "unit", "statistic", "interval", "doubt")),
    *(sa.column(name) for name in ("value", "low", "high")),
    sa.column("samples", Samples),
)
KERNEL = sa.table("kernel", sa.column("id"), sa.column("name", AnyText))
STAT = sa.table(
    "kernel_stat",
    *(sa.column(name) for name in ("run_id", "place", "kernel_id", "role", "calls")),
    *(sa.column(name) for name in ("total_ns", "min_ns", "max_ns", "position")),
    sa.column("short_name", AnyText),
    sa.column("stages", Json(tuple[str, ...])),
)


def renew_run_digests(connection: sa.Connection) -> None:
    ids = connection.scalars(sa.select(RUN.c.id).order_by(RUN.c.id)).all()
    for first in range(0, len(ids), AT_ONCE):
        _renew(connection, ids[first : first + AT_ONCE])


def _renew(connection: sa.Connection, ids: Sequence[int]) -> None:
    metrics, kernels = _metrics(connection, ids), _kernels(connection, ids)
    query = (
        sa.select(RUN, TRIAL.c.workload, TRIAL.c.plan, ENVIRONMENT.c.record.label("environment"))
        .join(TRIAL, TRIAL.c.id == RUN.c.trial_id)
        .outerjoin(ENVIRONMENT, ENVIRONMENT.c.id == RUN.c.environment_id)
        .where(RUN.c.id.in_(ids))
    )
    for row in connection.execute(query).all():
        run = Run(
            variant=row.variant,
            status=RunStatus(row.status),
            failure=_failure(row),
            metrics=tuple(metrics[row.id]),
            kernels=tuple(kernels[row.id]),
            **msgspec.structs.asdict(row.record),
        )
        renewed = digest(row.workload, row.plan, row.environment, run)
        connection.execute(sa.update(RUN).where(RUN.c.id == row.id).values(digest=renewed))


def _failure(row: sa.Row[Any]) -> Failure | None:
    if row.failure_kind is None:
        return None
    return Failure(kind=FailureKind(row.failure_kind), message=row.failure_message or "")


def _metrics(connection: sa.Connection, ids: Sequence[int]) -> defaultdict[int, list[Metric]]:
    query = sa.select(METRIC).where(METRIC.c.run_id.in_(ids)).order_by(METRIC.c.run_id, METRIC.c.position)
    found = defaultdict[int, list[Metric]](list)
    for row in connection.execute(query).mappings():
        values = {column.name: row[column] for column in METRIC.c if column.name not in ("run_id", "position")}
        found[row["run_id"]].append(Metric(**values))
    return found


def _kernels(connection: sa.Connection, ids: Sequence[int]) -> defaultdict[int, list[KernelUse]]:
    query = (
        sa.select(STAT, KERNEL.c.name)
        .join(KERNEL, KERNEL.c.id == STAT.c.kernel_id)
        .where(STAT.c.run_id.in_(ids))
        .order_by(STAT.c.run_id, STAT.c.place)
    )
    found = defaultdict[int, list[KernelUse]](list)
    for row in connection.execute(query).mappings():
        values = {column.name: row[column] for column in STAT.c if column.name not in APART}
        found[row["run_id"]].append(KernelUse(name=row["name"], role=Role(row["role"]), **values))
    return found
