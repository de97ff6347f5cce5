"""The ceilings that `fusescope run` keeps between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands import ceilings_cache
from profiles.ceilings import Ceilings
from profiles.environment import Environment

HERE = Environment(device="cpu", device_name="A processor", torch="2.13.0", python="3.12", platform="test")
THERE = Environment(device="cuda", device_name="A GPU", torch="2.13.0", python="3.12", platform="test")
FOUND = Ceilings(exp_per_s=1e9, launch_ns=1500.0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "fusescope"


def test_what_was_stored_is_loaded_for_the_same_environment_alone() -> None:
    assert ceilings_cache.known() == ()
    ceilings_cache.store(HERE, FOUND)
    assert ceilings_cache.load(HERE) == FOUND
    assert ceilings_cache.load(THERE) is None
    assert ceilings_cache.known() == (HERE.digest,)


def test_a_later_measurement_takes_the_place_of_the_first(folder: Path) -> None:
    ceilings_cache.store(HERE, Ceilings())
    ceilings_cache.store(HERE, FOUND)
    assert ceilings_cache.load(HERE) == FOUND
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("text", [b"", b"{", b'{"exp_per_s": "many"}', b"\xff\xfe"])
def test_an_unreadable_file_is_measured_anew(folder: Path, text: bytes) -> None:
    ceilings_cache.store(HERE, FOUND)
    next(folder.iterdir()).write_bytes(text)
    assert ceilings_cache.load(HERE) is None
    assert ceilings_cache.known() == ()


def test_a_folder_that_cannot_be_written_is_no_error(folder: Path) -> None:
    folder.write_text("a file stands where the folder should be")
    ceilings_cache.store(HERE, FOUND)
    assert ceilings_cache.load(HERE) is None
    assert ceilings_cache.known() == ()


def test_a_relative_cache_folder_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    ceilings_cache.store(HERE, FOUND)
    assert (tmp_path / ".cache" / "fusescope").is_dir()
