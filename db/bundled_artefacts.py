"""The text files of a bundle's runs, between the bundle and the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from db.store import TraceStore
from profiles.bundle import Bundle, extract_artefact
from profiles.results import Results


def store_artefacts(store: TraceStore, bundle: Bundle, directory: Path) -> None:
    """Those that the store does not hold; `directory` is for passing through."""
    for sha256 in sorted(bundle.artefacts):
        if not store.holds_artefact(sha256):
            path = directory / f"{sha256}.txt"
            extract_artefact(bundle, sha256, path)
            store.put_artefact(path)


def named_artefacts(results: Iterable[Results]) -> frozenset[str]:
    """By SHA-256."""
    runs = (run for one in results for trial in one.trials for run in trial.runs)
    return frozenset(artefact.sha256 for run in runs for artefact in run.artefacts)


def fetch_artefacts(store: TraceStore, wanted: Iterable[str], directory: Path) -> dict[str, Path]:
    """Copies of those that the store holds, by SHA-256."""
    held = {sha256: directory / f"{sha256}.txt" for sha256 in wanted if store.holds_artefact(sha256)}
    for sha256, target in held.items():
        store.fetch_artefact(sha256, target)
    return held
