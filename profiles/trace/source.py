"""The bytes of a trace file, decompressed block by block under limits; files of other kinds are refused by name."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from profiles.trace.errors import ACCEPTED, TraceTooLarge, UnreadableTrace, UnsupportedFormat
from profiles.trace.model import TraceLimits

_FILE_BLOCK = 64 << 10  # what follows a member's end is copied: small, for files of very many members
_TEXT_BLOCK = 1 << 20
_START = 4096
_GZIP = b"\x1f\x8b"
SQLITE = b"SQLite format 3\x00"
_BOM = b"\xef\xbb\xbf"
_REPORTS = (".nsys-rep", ".qdrep")
_MAGIC = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"PAR1", "a Parquet file"),
    (b"\x7fELF", "an executable"),
    (b"\x80\x04\x95", "a pickle"),
)


def read_blocks(path: Path, limits: TraceLimits) -> Iterator[bytes]:
    """The decompressed text in blocks of about a MiB, without a byte-order mark. Judged by content, never by name."""
    with path.open("rb") as file:
        _check_file(os.fstat(file.fileno()).st_size, limits)
        start = file.read(len(_GZIP))
        file.seek(0)
        blocks = _inflate(file, limits) if start == _GZIP else _plain(file, limits)
        first = next(blocks, b"")
        _refuse_other_kinds(first, path.suffix)
        yield first.removeprefix(_BOM)
        yield from blocks


def check_start(start: bytes, suffix: str) -> None:
    """Refuse by its first bytes (some KiB, or all there are) what can be no trace: TraceError says why. What passes may
    still give none."""
    text = _start_of_text(start) if start.startswith(_GZIP) else start
    _refuse_other_kinds(text, suffix)
    if not text.startswith(SQLITE) and text.removeprefix(_BOM).lstrip()[:1] not in (b"{", b"[", b""):
        raise UnsupportedFormat(f"a file that begins as neither JSON nor SQLite does; {ACCEPTED}")


def _start_of_text(packed: bytes) -> bytes:
    inflater, text, left = zlib.decompressobj(wbits=31), b"", packed
    while left.startswith(_GZIP) and not text:  # members may be empty
        inflater = zlib.decompressobj(wbits=31)
        try:
            text = inflater.decompress(left, _START)
        except zlib.error as error:
            raise UnreadableTrace(f"broken gzip data at its start: {error}") from error
        left = inflater.unused_data
    if not text and inflater.eof:
        raise UnreadableTrace(f"the file is empty; {ACCEPTED}")
    return text or b"{"  # too little of it to tell


def _plain(file: BinaryIO, limits: TraceLimits) -> Iterator[bytes]:
    size = 0
    while block := file.read(_TEXT_BLOCK):
        size += len(block)
        _check_file(size, limits)
        _check_size(size, limits)
        yield block


def _inflate(file: BinaryIO, limits: TraceLimits) -> Iterator[bytes]:
    """All members of a gzip file, one after another, as gzip defines it."""
    inflater = zlib.decompressobj(wbits=31)
    size = taken = 0
    pending = b""
    while pending or (pending := file.read(_FILE_BLOCK)):
        if inflater.eof:
            inflater = zlib.decompressobj(wbits=31)
        try:
            block = inflater.decompress(pending, _TEXT_BLOCK)
        except zlib.error as error:
            raise UnreadableTrace(f"broken gzip data after {size:,} decompressed bytes: {error}") from error
        left = inflater.unused_data.lstrip(b"\0") if inflater.eof else inflater.unconsumed_tail
        taken += len(pending) - len(left)
        pending = left
        size += len(block)
        _check_file(taken, limits)
        _check_size(size, limits)
        _check_ratio(size, taken, limits)
        if block:
            yield block
    if not inflater.eof:
        raise UnreadableTrace(f"truncated: the gzip data ends early, after {size:,} decompressed bytes")


def _check_file(size: int, limits: TraceLimits) -> None:
    """Before anything is read, and on the way: a file may grow meanwhile."""
    if size > limits.max_file_bytes:
        raise TraceTooLarge(f"larger than the limit of {limits.max_file_bytes:,} bytes for a file")


def _check_size(size: int, limits: TraceLimits) -> None:
    if size > limits.max_bytes:
        raise TraceTooLarge(f"larger than the limit of {limits.max_bytes:,} bytes of decompressed text")


def _check_ratio(size: int, taken: int, limits: TraceLimits) -> None:
    if size > limits.ratio_after_bytes and size > limits.max_ratio * taken:
        raise TraceTooLarge(
            f"{taken:,} compressed bytes became {size:,}: more than the limit of {limits.max_ratio} to 1"
        )


def _refuse_other_kinds(first: bytes, suffix: str) -> None:
    """The name only says what a file may be that is neither JSON nor a database: reports of Nsight Systems have no
    public form, and an export of them has."""
    if not first:
        raise UnreadableTrace(f"the file is empty; {ACCEPTED}")
    if first.startswith(SQLITE):
        return
    if suffix in _REPORTS and first.removeprefix(_BOM).lstrip()[:1] not in (b"{", b"["):
        raise UnsupportedFormat(
            "a report of Nsight Systems, which only its own programs can read; export it with nsys export --type sqlite"
            " and give that file"
        )
    for magic, kind in _MAGIC:
        if first.startswith(magic):
            raise UnsupportedFormat(f"{kind}, which cannot be read here; {ACCEPTED}")
    if b"\0" in first[:64]:
        raise UnsupportedFormat(f"a binary file of an unknown kind; {ACCEPTED}")
