"""A comparison as one JSON document: what `fusescope compare --json` prints and the data routes answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from profiles.comparison.answer import answer
from profiles.comparison.caveat import caveat
from profiles.comparison.entry import EntryT, sections
from profiles.comparison.judgement import Judged, judge_time
from profiles.comparison.parts import plain
from profiles.comparison.speed import By, chosen, offered
from profiles.comparison.table import Row, rows
from profiles.reports import Compared, ComparedVariant, ComparedWorkload


def document(entries: Sequence[EntryT], *, base_key: str | None, by: str, source: Callable[[EntryT], str]) -> Compared:
    """`source` says where an entry comes from: a file, or a comparison's id."""
    families = {time: judge_time(entries, time, base_key=base_key) for time in offered(entries)}
    told = [_workload(group, base_key=base_key, by=by, source=source, families=families) for group in sections(entries)]
    return Compared(workloads=tuple(told))


def _workload(
    entries: Sequence[EntryT],
    *,
    base_key: str | None,
    by: str,
    source: Callable[[EntryT], str],
    families: Mapping[By, Judged],
) -> ComparedWorkload:
    used = chosen(entries, by)
    judged = families.get(used, {})
    warning = caveat(entries, base_key=base_key, by=used, judged=judged)
    return ComparedWorkload(
        workload=entries[0].workload,
        by=used,
        answer=answer(entries, base_key=base_key, by=used, judged=judged).text,
        caveat=None if warning is None else f"{warning.label}: {plain(warning.parts)}",
        rows=tuple(
            _variant(row, source(row.entry)) for row in rows(entries, base_key=base_key, by=used, judged=judged)
        ),
        comparisons=tuple(family[e.key] for family in families.values() for e in entries if e.key in family),
    )


def _variant(row: Row[EntryT], source: str) -> ComparedVariant:
    limit = row.standing
    return ComparedVariant(
        key=row.entry.key,
        variant=row.entry.variant,
        source=source,
        state=row.state,
        baseline=row.is_baseline,
        speed_up=row.speed_up.ratio if row.speed_up else None,
        apart=row.speed_up.apart if row.speed_up else None,
        comparison=row.speed_up.judged if row.speed_up else None,
        of_limit=limit.share if limit else None,
        bound=limit.label if limit else None,
        limit=limit.text if limit else None,
        environment=row.entry.environment,
        run=row.entry.run,
    )
