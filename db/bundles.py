"""Bundles into the database and out of it.

An import is whole or nothing, and the same bundle twice is once: a run is known by the digest of all that it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from db.bundle_export import bundled
from db.bundled_artefacts import fetch_artefacts, named_artefacts, store_artefacts
from db.bundled_results import ImportedRun, check_results, insert_results
from db.bundled_traces import (
    fetch_traces,
    keep_known_traces,
    missing_traces,
    named_traces,
    read_new_traces,
    store_traces,
)
from db.comparisons import find_comparison, insert_comparison
from db.locking import one_import_at_a_time
from db.models import EntryRow, RunRow, TrialRow
from db.session import Database
from db.store import TraceStore
from db.views import ComparisonKind, ViewState
from profiles.bundle import BundledComparison, BundleError, read_bundle, write_bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """`comparison_ids`: the bundle's comparison, also where it was there before. `traces_missing` counts traces that
    runs name and that are neither in the bundle nor here; `raw_returned` those whose raw file was no longer kept here,
    and is again."""

    comparison_ids: tuple[int, ...]
    runs_new: int
    runs_known: int
    traces_missing: int
    raw_returned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOutcome:
    """`left_out` counts entries that have no run yet, or no machine that they were measured on; `traces_missing` and
    `artefacts_missing` the files that the store does not hold (any more); `traces_removed` those of the missing traces
    that were kept as long as this server keeps raw traces."""

    runs: int
    left_out: int
    traces: int
    traces_missing: int
    traces_removed: int
    artefacts: int
    artefacts_missing: int


def import_bundle(db: Database, store: TraceStore, path: Path, *, created_by: str | None = None) -> ImportOutcome:
    """Store a bundle's runs, traces and comparison. BundleError where anything in it is broken, unknown or hostile:
    then nothing is stored."""
    bundle = read_bundle(path)
    check_results(bundle)
    with TemporaryDirectory(prefix="fusescope-") as directory:
        traces = read_new_traces(db, bundle, Path(directory))
        with db.begin() as session:
            one_import_at_a_time(session)
            raw_returned = keep_known_traces(session, store, bundle, Path(directory))
            store_traces(session, store, traces)
            store_artefacts(store, bundle, Path(directory))
            runs = insert_results(session, bundle.results)
            shown = [runs.stored[entry.results, entry.trial, entry.run] for entry in bundle.comparison.entries]
            traces_missing = missing_traces(session, bundle.results)
            comparison_id = _same_comparison(session, shown)
            if comparison_id is None:
                comparison_id = _new_comparison(session, bundle.comparison, shown, created_by)
    return ImportOutcome(
        comparison_ids=(comparison_id,),
        runs_new=runs.new,
        runs_known=runs.known,
        traces_missing=traces_missing,
        raw_returned=raw_returned,
    )


def export_comparison(db: Database, store: TraceStore, comparison_id: int, path: Path) -> ExportOutcome:
    """Write a comparison, with the raw traces of its runs that are kept, as a bundle; what else it says of the others'
    traces stays in the results. BundleError where it has nothing measured yet."""
    with db.read() as session:
        view = find_comparison(session, comparison_id)
        if view.kind is ComparisonKind.TRACES:
            raise BundleError(
                f"comparison {comparison_id} shows traces, and a bundle holds measured runs; its traces are files of"
                " their own, which can be downloaded one by one and imported elsewhere"
            )
        trials = {entry.trial_id for entry in view.entries}
        presets = dict(session.execute(select(TrialRow.id, TrialRow.preset).where(TrialRow.id.in_(trials))).all())
    content = bundled(view, presets)
    if not content.results:
        raise BundleError(f"nothing is measured in comparison {comparison_id} yet: there is nothing to export")
    wanted, wanted_artefacts = named_traces(content.results), named_artefacts(content.results)
    removed = {entry.run.trace for entry in view.entries if entry.run is not None and entry.raw_removed_at is not None}
    with TemporaryDirectory(prefix="fusescope-") as directory:
        raw = fetch_traces(store, wanted, Path(directory))
        artefacts = fetch_artefacts(store, wanted_artefacts, Path(directory))
        write_bundle(path, content.results, raw, artefacts=artefacts, comparison=content.comparison)
    return ExportOutcome(
        runs=len(content.comparison.entries),
        left_out=content.left_out,
        traces=len(raw),
        traces_missing=len(wanted) - len(raw),
        traces_removed=len((wanted - set(raw)) & removed),
        artefacts=len(artefacts),
        artefacts_missing=len(wanted_artefacts) - len(artefacts),
    )


def _same_comparison(session: Session, shown: Sequence[ImportedRun]) -> int | None:
    """The first comparison that shows runs of these contents in this order, and no others."""
    same = and_(RunRow.trial_id == EntryRow.trial_id, RunRow.variant == EntryRow.variant)
    showing = select(EntryRow.comparison_id).join(RunRow, same).where(RunRow.digest == shown[0].digest)
    wanted = [imported.digest for imported in shown]
    for comparison_id in session.scalars(showing.distinct().order_by(EntryRow.comparison_id)).all():
        entries = select(RunRow.digest).select_from(EntryRow).outerjoin(RunRow, same)
        ordered = entries.where(EntryRow.comparison_id == comparison_id).order_by(EntryRow.position)
        if session.scalars(ordered).all() == wanted:
            return comparison_id
    return None


def _new_comparison(
    session: Session, comparison: BundledComparison, shown: Iterable[ImportedRun], created_by: str | None
) -> int:
    view = comparison.view
    return insert_comparison(
        session,
        [(imported.trial_id, imported.variant) for imported in shown],
        keys=[entry.key for entry in comparison.entries],
        name=comparison.name,
        created_by=created_by,
        view=ViewState(base=view.base, by=view.by, lanes=view.lanes, zoom=view.zoom),
    )
