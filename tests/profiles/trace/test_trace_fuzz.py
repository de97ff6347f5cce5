"""A short run of what `make fuzz` does at length: hostile inputs are refused or read, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzzing.documents import documents
from tests.fuzzing.mutations import mutated, sources
from tests.fuzzing.reading import check_child, check_reading

SEEDS = range(240)


def test_damaged_recordings_are_refused_or_read_and_both_happen(recordings: Path, tmp_path: Path) -> None:
    texts = sources([recordings])
    read = [check_reading(mutated(seed, texts), tmp_path) for seed in SEEDS]
    assert 0 < sum(read) < len(read)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_child_says_the_same_of_damaged_recordings(recordings: Path, tmp_path: Path, seed: int) -> None:
    check_child(mutated(seed, sources([recordings])), tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=documents())
def test_drawn_documents_are_refused_or_read(tmp_path: Path, content: bytes) -> None:
    check_reading(content, tmp_path)
