"""The files that a bundle carries beside its JSON, each named by its SHA-256: raw traces, and the runs' text files."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from profiles.archive import SMALL, ArchiveError, copy_member
from profiles.compilation import MOST_ARTEFACT_BYTES, MOST_ARTEFACTS
from profiles.results import Run

TRACES, ARTEFACTS = "traces/", "artefacts/"
SHA256 = re.compile(r"[0-9a-f]{64}")
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal contents make equal files


def trace_name(sha256: str) -> str:
    return f"{TRACES}{sha256}.json.gz"


def artefact_name(sha256: str) -> str:
    return f"{ARTEFACTS}{sha256}"


def hashes(names: Iterable[str], folder: str) -> frozenset[str]:
    """Those that the names of a folder's members hold."""
    return frozenset(name.removeprefix(folder).partition(".")[0] for name in names if name.startswith(folder))


def member(name: str, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, date_time=EPOCH)
    made.compress_type = method
    made.external_attr = 0o100644 << 16
    return made


def write_trace(archive: zipfile.ZipFile, sha256: str, path: Path) -> None:
    """As it is: it was compressed when it was recorded."""
    _write(archive, path, member(trace_name(sha256), zipfile.ZIP_STORED))


def write_artefact(archive: zipfile.ZipFile, sha256: str, path: Path) -> None:
    """Packed only where the packing of a text that repeats itself could not be taken for a bomb's."""
    method = zipfile.ZIP_DEFLATED if path.stat().st_size <= SMALL else zipfile.ZIP_STORED
    _write(archive, path, member(artefact_name(sha256), method))


def check_traces(archive: zipfile.ZipFile, traces: Iterable[str], runs: Iterable[Run]) -> None:
    """ArchiveError for a trace that no run names, or that is another one than its name says."""
    wanted = {run.trace for run in runs}
    for sha256 in sorted(traces):
        if sha256 not in wanted:
            raise ArchiveError(f"{trace_name(sha256)} belongs to no run")
        _check_hash(archive, trace_name(sha256), sha256)


def check_artefacts(archive: zipfile.ZipFile, artefacts: Iterable[str], runs: Iterable[Run]) -> None:
    """ArchiveError for what no run names, and for what is not as its run says."""
    sizes = _sizes(runs)
    for sha256 in sorted(artefacts):
        name = artefact_name(sha256)
        if sha256 not in sizes:
            raise ArchiveError(f"{name} belongs to no run")
        if (size := archive.getinfo(name).file_size) != sizes[sha256]:
            raise ArchiveError(f"{name} has {size:,} bytes; its run says {sizes[sha256]:,}")
        _check_hash(archive, name, sha256)


def unwanted(traces: Mapping[str, Path], artefacts: Mapping[str, Path], runs: Iterable[Run]) -> str | None:
    """The first file that belongs to no run, in words."""
    every = tuple(runs)
    named = {run.trace for run in every}, {artefact.sha256 for run in every for artefact in run.artefacts}
    for what, given, wanted in (("trace", traces, named[0]), ("file", artefacts, named[1])):
        for sha256 in given:
            if sha256 not in wanted:
                return f"the {what} {sha256} belongs to no run of the results"
    return None


def _sizes(runs: Iterable[Run]) -> dict[str, int]:
    """By SHA-256, as the runs name them."""
    sizes: dict[str, int] = {}
    for run in runs:
        if len(run.artefacts) > MOST_ARTEFACTS:
            raise ArchiveError(
                f"the run of {run.variant!r} has {len(run.artefacts)} files; accepted are up to {MOST_ARTEFACTS}"
            )
        for artefact in run.artefacts:
            if not SHA256.fullmatch(artefact.sha256):
                raise ArchiveError(f"{artefact.sha256[:80]!r} of the run of {run.variant!r} is no SHA-256")
            if not 0 <= artefact.size_bytes <= MOST_ARTEFACT_BYTES:
                raise ArchiveError(
                    f"{artefact_name(artefact.sha256)} has {artefact.size_bytes:,} bytes; "
                    f"accepted are up to {MOST_ARTEFACT_BYTES:,}"
                )
            if sizes.setdefault(artefact.sha256, artefact.size_bytes) != artefact.size_bytes:
                raise ArchiveError(f"two runs say that {artefact_name(artefact.sha256)} has another size")
    return sizes


def _check_hash(archive: zipfile.ZipFile, name: str, sha256: str) -> None:
    with Path(os.devnull).open("wb") as nowhere:
        if copy_member(archive, name, nowhere) != sha256:
            raise ArchiveError(f"{name} has another SHA-256 than its name says")


def _write(archive: zipfile.ZipFile, path: Path, as_member: zipfile.ZipInfo) -> None:
    with path.open("rb") as source, archive.open(as_member, "w") as target:
        shutil.copyfileobj(source, target)
