"""What a timeline is told about each of its lanes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One run or trace under the others. `label` is its name: a variant, or a trace's file.

    `summary` stands beside the label, `note` after the last slice. `stages` counts the stages of the operation, 0
    where there is none; `url` is where its columns are, relative to the page (`opened.url_of_run`, `url_of_trace`).
    """

    key: str
    label: str
    url: str
    baseline: bool = False
    summary: str = ""
    note: str = ""
    stages: int = 0
