"""Traces: the raw file in the store, the slices in chunks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace that is stored: its raw file and its timeline."""

    sha256: str
