"""Each limit on a trace file: refused early, in words of its own, and to be set from the environment."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest

from profiles.trace.child import parse_in_child
from profiles.trace.errors import TraceTooLarge
from profiles.trace.limits import MAX_BYTES, MAX_FILE_BYTES, WrongLimit, trace_limits
from profiles.trace.model import TraceLimits
from profiles.trace.read import read_trace
from profiles.trace.source import read_blocks

EVENTS = b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1}'
END = b"]}"


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 MB of spaces out of 0.4 MB."""
    packer = zlib.compressobj(9, wbits=31)
    path = tmp_path_factory.mktemp("bomb") / "bomb.json.gz"
    with path.open("wb") as file:
        file.write(packer.compress(EVENTS))
        for _ in range(400):
            file.write(packer.compress(b" " * 1_000_000))
        file.write(packer.compress(END) + packer.flush())
    return path


def test_a_bomb_is_refused_by_its_ratio_before_its_memory_is_spent(bomb: Path) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TraceTooLarge, match=r"more than the limit of 200 to 1$"):
            read_trace(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 << 20


def test_the_child_says_too_large_of_a_bomb(bomb: Path, tmp_path: Path) -> None:
    with pytest.raises(
        TraceTooLarge, match=r"^[\d,]+ compressed bytes became [\d,]+: more than the limit of 200 to 1$"
    ):
        parse_in_child(bomb, device=None, directory=tmp_path)


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate((4 << 30) + 1)
    with pytest.raises(TraceTooLarge, match=r"^larger than the limit of 4,294,967,296 bytes for a file$"):
        read_trace(path)


def test_a_file_that_grows_while_it_is_read_is_measured_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "growing.json"
    path.write_bytes(EVENTS)
    blocks = read_blocks(path, TraceLimits(max_file_bytes=3_000_000))
    assert next(blocks) == EVENTS
    with path.open("ab") as file:
        file.write(b" " * 4_000_000)
    with pytest.raises(TraceTooLarge, match=r"^larger than the limit of 3,000,000 bytes for a file$"):
        list(blocks)


def test_very_many_small_gzip_members_are_read_in_time(tmp_path: Path) -> None:
    path = tmp_path / "members.json.gz"
    path.write_bytes(gzip.compress(EVENTS) + gzip.compress(b"") * 50_000 + gzip.compress(END))
    begun = time.process_time()
    assert len(read_trace(path).slices) == 1
    assert time.process_time() - begun < 20


def test_the_environment_sets_both_sizes() -> None:
    limits = trace_limits({MAX_FILE_BYTES: "1000", MAX_BYTES: "5000"})
    assert (limits.max_file_bytes, limits.max_bytes) == (1000, 5000)
    assert trace_limits({}) == TraceLimits()


@pytest.mark.parametrize("text", ["", "4 GiB", "-1", "0", "1e9"])
def test_a_limit_that_is_no_number_of_bytes_is_refused_by_name(text: str) -> None:
    with pytest.raises(WrongLimit, match=f"^{MAX_BYTES} is {text!r}; expected a whole number of bytes above 0$"):
        trace_limits({MAX_BYTES: text})


def test_the_child_works_under_the_limits_of_the_environment(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_BYTES, "5000")
    with pytest.raises(TraceTooLarge, match=r"^larger than the limit of 5,000 bytes of decompressed text$"):
        parse_in_child(recordings / "cuda_naive.json.gz", device=None, directory=tmp_path)
