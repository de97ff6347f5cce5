"""Zip files from strangers: checked as a whole before a byte is believed, and never unpacked by their own names."""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

START = b"PK"
END_RECORD = struct.Struct("<4s4H2LH")  # the end of the central directory, without a comment
END_SIGNATURE = b"PK\x05\x06"
ZIP64_LOCATOR, ZIP64_SIGNATURE = 20, b"PK\x06\x07"
ENCRYPTED = 0x1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
SMALL = 1 << 20  # below this, any ratio is harmless
BLOCK = 1 << 20


class ArchiveError(ValueError):
    """A zip file that is broken, or not to be trusted."""


class ArchiveLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes, but for `members` (files in the archive) and `ratio` (unpacked : packed, for members over 1 MiB)."""

    archive: int = 2 << 30
    members: int = 10_000
    member: int = 1 << 30
    total: int = 4 << 30
    ratio: int = 200


def is_archive(path: Path) -> bool:
    """By its first bytes: a broken one too, of which `open_archive` says what is wrong."""
    with path.open("rb") as file:
        return file.read(len(START)) == START


@contextmanager
def open_archive(path: Path, *, names: re.Pattern[str], limits: ArchiveLimits) -> Iterator[zipfile.ZipFile]:
    """The zip file, whose members are all plain files with names that match `names`, within the limits.

    ArchiveError otherwise, and for whatever turns out to be broken while its members are read.
    """
    promised = _check_end(path, limits)
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) != promised:
                raise ArchiveError(f"the archive promises {promised} members and has {len(archive.infolist())}")
            _check_members(archive.infolist(), names, limits)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, RuntimeError, UnicodeError) as error:
        raise ArchiveError(f"the archive is broken: {error}") from error


def read_member(archive: zipfile.ZipFile, name: str, *, most: int) -> bytes:
    """The member's bytes; ArchiveError where there are more than `most`."""
    size = archive.getinfo(name).file_size
    if size > most:
        raise ArchiveError(f"{name} has {size:,} bytes; accepted are up to {most:,}")
    return archive.read(name)


def copy_member(archive: zipfile.ZipFile, name: str, target: IO[bytes]) -> str:
    """Copy the member's bytes; their SHA-256."""
    digest = hashlib.sha256()
    with archive.open(name) as source:
        while block := source.read(BLOCK):
            digest.update(block)
            target.write(block)
    return digest.hexdigest()


def _check_end(path: Path, limits: ArchiveLimits) -> int:
    """How many members the end record promises. It is looked at first: reading a directory of millions of members
    would already cost gigabytes."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - END_RECORD.size - ZIP64_LOCATOR))
            tail = file.read(END_RECORD.size + ZIP64_LOCATOR)
    except OSError as error:
        raise ArchiveError(f"the file cannot be read: {error.strerror}") from error
    if size > limits.archive:
        raise ArchiveError(f"the file has {size:,} bytes; accepted are up to {limits.archive:,}")
    if len(tail) < END_RECORD.size or not tail[-END_RECORD.size :].startswith(END_SIGNATURE):
        raise ArchiveError("the file is no zip archive, or its end is missing")
    _, _, _, _, members, directory_size, _, _ = END_RECORD.unpack(tail[-END_RECORD.size :])
    if tail[: -END_RECORD.size].startswith(ZIP64_SIGNATURE):
        raise ArchiveError("the archive is in the zip64 form, which is for larger files than are accepted")
    if members > limits.members or directory_size > limits.members * 1024:
        raise ArchiveError(f"the archive has {members:,} or more members; accepted are up to {limits.members:,}")
    return int(members)


def _check_members(members: list[zipfile.ZipInfo], names: re.Pattern[str], limits: ArchiveLimits) -> None:
    for member in members:
        _check_member(member, names, limits)
    name, times = Counter(member.orig_filename for member in members).most_common(1)[0] if members else ("", 0)
    if times > 1:
        raise ArchiveError(f"{name} is in the archive {times} times")
    total = sum(member.file_size for member in members)
    if total > limits.total:
        raise ArchiveError(f"the archive unpacks to {total:,} bytes; accepted are up to {limits.total:,}")


def _check_member(member: zipfile.ZipInfo, names: re.Pattern[str], limits: ArchiveLimits) -> None:
    name = member.orig_filename  # as it is in the file; `filename` is already tidied up
    if not names.fullmatch(name):
        raise ArchiveError(f"unexpected member {name!r}")
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise ArchiveError(f"{name} is no plain file")
    if member.flag_bits & ENCRYPTED:
        raise ArchiveError(f"{name} is encrypted")
    if member.compress_type not in METHODS:
        raise ArchiveError(f"{name} is packed by method {member.compress_type}; accepted are stored and deflated")
    if member.file_size > limits.member:
        raise ArchiveError(f"{name} unpacks to {member.file_size:,} bytes; accepted are up to {limits.member:,}")
    if member.file_size > SMALL and member.file_size > limits.ratio * member.compress_size:
        raise ArchiveError(f"{name} unpacks to more than {limits.ratio} times its size in the archive")
