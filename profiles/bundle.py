"""Bundles: results and traces in one `.fusescope` file, to be carried between machines without loss.

A zip archive of `manifest.json`, `results/0.json` … (each a `profiles.results.Results`, the JSON of `fusescope run`;
several where a comparison spans environments or plans), `traces/<sha256>.json.gz` and `artefacts/<sha256>`.
"""

from __future__ import annotations

import re
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import msgspec

from profiles.archive import ArchiveError, ArchiveLimits, copy_member, open_archive, read_member
from profiles.bundled_files import (
    ARTEFACTS,
    TRACES,
    artefact_name,
    check_artefacts,
    check_traces,
    hashes,
    member,
    trace_name,
    unwanted,
    write_artefact,
    write_trace,
)
from profiles.comparison.entry import MeasuredEntry, letters
from profiles.results import SCHEMA, Results, Run

FORMAT = "fusescope-bundle"
NAMES = re.compile(
    r"manifest\.json|results/(?:0|[1-9][0-9]{0,3})\.json|traces/[0-9a-f]{64}\.json\.gz|artefacts/[0-9a-f]{64}"
)
KEY = re.compile(r"[A-Z]{1,4}")
LONGEST_NAME = 500
LIMITS = ArchiveLimits()
MOST_JSON = 64 << 20  # of all results together: decoded, they take several times as much memory

NO_FILES: Mapping[str, Path] = MappingProxyType({})

Decoded = TypeVar("Decoded")


class BundleError(ValueError):
    """A file that is no bundle, is broken, or is not to be trusted."""


class BundledEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the comparison: the place of its run in the results, each counted from 0."""

    key: str
    results: int
    trial: int
    run: int


class BundledView(msgspec.Struct, frozen=True, kw_only=True):
    """What the comparison opens with."""

    base: str | None = None
    by: str = "gpu_time"
    lanes: tuple[str, ...] = ()
    zoom: str | None = None


class BundledComparison(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    entries: tuple[BundledEntry, ...]
    view: BundledView = BundledView()


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`results` counts the files of results. `comparison` is None for what `fusescope run` measured: all its runs."""

    format: str
    schema: int = SCHEMA
    results: int
    comparison: BundledComparison | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle that was checked: all its JSON is typed, all its files have the hash that they are named by."""

    path: Path
    results: tuple[Results, ...]
    comparison: BundledComparison
    traces: frozenset[str]
    artefacts: frozenset[str] = frozenset()

    @property
    def entries(self) -> tuple[MeasuredEntry, ...]:
        """The comparison's entries, in their order."""
        return tuple(self._entry(entry) for entry in self.comparison.entries)

    def _entry(self, entry: BundledEntry) -> MeasuredEntry:
        results = self.results[entry.results]
        trial = results.trials[entry.trial]
        run = trial.runs[entry.run]
        return MeasuredEntry(
            key=entry.key,
            variant=run.variant,
            run=run,
            workload=trial.workload,
            plan=results.plan,
            environment=results.environment,
            trial_id=sum(len(one.trials) for one in self.results[: entry.results]) + entry.trial,
            ceilings=results.ceilings,
        )


def write_bundle(
    path: Path,
    results: Results | Sequence[Results],
    traces: Mapping[str, Path],
    *,
    artefacts: Mapping[str, Path] = NO_FILES,
    comparison: BundledComparison | None = None,
) -> None:
    """Write a bundle of results and their files, by SHA-256. The bundle appears whole or not at all."""
    every = (results,) if isinstance(results, Results) else tuple(results)
    _check_whole(every, traces, artefacts)
    manifest = Manifest(format=FORMAT, results=len(every), comparison=comparison)
    unfinished = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with zipfile.ZipFile(unfinished, "x", allowZip64=False) as archive:
            archive.writestr(member("manifest.json"), msgspec.json.format(msgspec.json.encode(manifest)))
            for number, one in enumerate(every):
                archive.writestr(member(f"results/{number}.json"), msgspec.json.encode(one))
            for sha256 in sorted(traces):
                write_trace(archive, sha256, traces[sha256])
            for sha256 in sorted(artefacts):
                write_artefact(archive, sha256, artefacts[sha256])
        unfinished.replace(path)
    except (zipfile.LargeZipFile, OSError) as error:
        raise BundleError(f"{path} cannot be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def read_bundle(path: Path, *, limits: ArchiveLimits = LIMITS) -> Bundle:
    """Read and check a bundle, traces included. BundleError says what is wrong with it."""
    try:
        with open_archive(path, names=NAMES, limits=limits) as archive:
            return _bundle(path, archive)
    except ArchiveError as error:
        raise BundleError(f"{path}: {error}") from error


def extract_trace(bundle: Bundle, sha256: str, target: Path) -> None:
    """Copy a trace of the bundle to `target`."""
    _extract(bundle, trace_name(sha256), sha256, target)


def extract_artefact(bundle: Bundle, sha256: str, target: Path) -> None:
    """Copy a text file of the bundle to `target`."""
    _extract(bundle, artefact_name(sha256), sha256, target)


def _extract(bundle: Bundle, name: str, sha256: str, target: Path) -> None:
    try:
        with open_archive(bundle.path, names=NAMES, limits=LIMITS) as archive, target.open("wb") as file:
            found = copy_member(archive, name, file)
    except ArchiveError as error:
        raise BundleError(f"{bundle.path}: {error}") from error
    if found != sha256:
        raise BundleError(f"{bundle.path}: the bundle was changed while it was read")


def _check_whole(results: Sequence[Results], traces: Mapping[str, Path], artefacts: Mapping[str, Path]) -> None:
    """BundleError where the bundle would not be read back as it was written."""
    for one in results:
        if not _survives(one):
            raise BundleError("the results hold a number that is not finite, or text that is not Unicode")
    if (stray := unwanted(traces, artefacts, _runs(results))) is not None:
        raise BundleError(stray)


def _survives(results: Results) -> bool:
    try:
        return msgspec.json.decode(msgspec.json.encode(results), type=Results) == results
    except (msgspec.MsgspecError, UnicodeError):
        return False


def _bundle(path: Path, archive: zipfile.ZipFile) -> Bundle:
    names = set(archive.namelist())
    if "manifest.json" not in names:
        raise ArchiveError("the archive has no manifest.json: it is no bundle")
    manifest = _decoded(archive, "manifest.json", Manifest)
    _check_format(manifest)
    results = _results(archive, manifest, names)
    traces, artefacts = hashes(names, TRACES), hashes(names, ARTEFACTS)
    check_traces(archive, traces, _runs(results))
    check_artefacts(archive, artefacts, _runs(results))
    comparison = manifest.comparison or _everything(results)
    _check_comparison(comparison, results)
    return Bundle(path=path, results=results, comparison=comparison, traces=traces, artefacts=artefacts)


def _check_format(manifest: Manifest) -> None:
    if manifest.format != FORMAT:
        raise ArchiveError(f"the manifest's format is {manifest.format!r}; expected {FORMAT!r}")
    if manifest.schema != SCHEMA:
        raise ArchiveError(f"the bundle has schema {manifest.schema}; this version reads schema {SCHEMA}")


def _results(archive: zipfile.ZipFile, manifest: Manifest, names: set[str]) -> tuple[Results, ...]:
    expected = {f"results/{number}.json" for number in range(min(manifest.results, len(names)))}
    if len(expected) != manifest.results or {name for name in names if "results/" in name} != expected:
        raise ArchiveError(f"the manifest speaks of {manifest.results} results; the archive has others")
    size = sum(archive.getinfo(name).file_size for name in expected)
    if size > MOST_JSON:
        raise ArchiveError(f"the results have {size:,} bytes together; accepted are up to {MOST_JSON:,}")
    results = tuple(_decoded(archive, f"results/{number}.json", Results) for number in range(manifest.results))
    for one in results:
        if one.schema != SCHEMA:
            raise ArchiveError(f"the results have schema {one.schema}; this version reads schema {SCHEMA}")
    return results


def _decoded(archive: zipfile.ZipFile, name: str, value_type: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(read_member(archive, name, most=MOST_JSON), type=value_type)
    except (msgspec.MsgspecError, UnicodeError, ValueError, RecursionError) as error:
        raise ArchiveError(f"{name}: {error}") from error


def _check_comparison(comparison: BundledComparison, results: Sequence[Results]) -> None:
    if not comparison.name.strip() or len(comparison.name) > LONGEST_NAME:
        raise ArchiveError(
            f"the comparison's name has {len(comparison.name):,} characters; accepted are 1 to {LONGEST_NAME}"
        )
    keys = [entry.key for entry in comparison.entries]
    if not keys or len(set(keys)) < len(keys):
        raise ArchiveError("the comparison has no entries, or two of the same key")
    for entry in comparison.entries:
        if not KEY.fullmatch(entry.key):
            raise ArchiveError(f"{entry.key!r} is no key of an entry; expected A, B … Z, AA …")
        if not _points_to_a_run(entry, results):
            raise ArchiveError(f"entry {entry.key!r} of the comparison points to no run")


def _points_to_a_run(entry: BundledEntry, results: Sequence[Results]) -> bool:
    return (
        0 <= entry.results < len(results)
        and 0 <= entry.trial < len(results[entry.results].trials)
        and 0 <= entry.run < len(results[entry.results].trials[entry.trial].runs)
    )


def _everything(results: Sequence[Results]) -> BundledComparison:
    """A comparison of all runs, in their order."""
    places = [
        (number, trial, run)
        for number, one in enumerate(results)
        for trial, measured in enumerate(one.trials)
        for run in range(len(measured.runs))
    ]
    name = next((one.name or one.preset for one in results if one.name or one.preset), None)
    return BundledComparison(
        name=name or "Imported results",
        entries=tuple(
            BundledEntry(key=letters(position), results=number, trial=trial, run=run)
            for position, (number, trial, run) in enumerate(places)
        ),
    )


def _runs(results: Iterable[Results]) -> Iterable[Run]:
    return (run for one in results for trial in one.trials for run in trial.runs)
