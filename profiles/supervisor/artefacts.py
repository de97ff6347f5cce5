"""The text files that a variant's process left for people to read: taken only where they are what the run says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from profiles.compilation import MOST_ARTEFACT_BYTES, MOST_ARTEFACTS, Artefact
from profiles.results import Finding, Run


def keep_artefacts(run: Run, directory: Path) -> tuple[Run, dict[str, Path]]:
    """The run with the files that lie in `directory` as it says, and their paths by SHA-256. Others are left out, with
    a finding each."""
    wrong = {artefact: _what_is_wrong(artefact, directory) for artefact in run.artefacts[:MOST_ARTEFACTS]}
    kept = tuple(artefact for artefact, reason in wrong.items() if reason is None)
    findings = [_finding(f"{artefact.name}: {reason}") for artefact, reason in wrong.items() if reason is not None]
    if len(run.artefacts) > MOST_ARTEFACTS:
        findings.append(_finding(f"{len(run.artefacts)} files were left; kept are the first {MOST_ARTEFACTS}"))
    checked = msgspec.structs.replace(run, artefacts=kept, trace_health=(*run.trace_health, *findings))
    return checked, {artefact.sha256: directory / artefact.sha256 for artefact in kept}


def _what_is_wrong(artefact: Artefact, directory: Path) -> str | None:
    path = directory / Path(artefact.sha256).name
    if not path.is_file():
        return "the file is missing"
    size = path.stat().st_size
    if size != artefact.size_bytes or size > MOST_ARTEFACT_BYTES:
        return f"the file has {size:,} bytes; said were {artefact.size_bytes:,}, accepted are {MOST_ARTEFACT_BYTES:,}"
    if hashlib.sha256(path.read_bytes()).hexdigest() != artefact.sha256:
        return "the file has another SHA-256 than its name says"
    return None


def _finding(message: str) -> Finding:
    return Finding(code="artefact_left_out", message=message, count=1)
