"""Files on their way in: written to the state directory and hashed block by block, never held in memory.

What breaks off is removed at once; what a killed server leaves, by the reaper of any worker that shares the directory.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

FOLDER = "uploads"


class UploadTooLarge(ValueError):  # noqa: N818 - says what is wrong
    """More bytes than a trace file may have."""


class Upload:
    """Context manager: the file is gone at its end, unless it was moved elsewhere meanwhile."""

    def __init__(self, state: Path, *, most_bytes: int) -> None:
        self.path = state / FOLDER / f"{uuid.uuid4().hex}.part"
        self.size_bytes = 0
        self._most_bytes = most_bytes
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("wb")
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        try:
            self._file.close()  # which writes what is still held back: a full disk shows here at the latest
        finally:
            self.path.unlink(missing_ok=True)

    def add(self, block: bytes) -> None:
        """UploadTooLarge before more than the limit is written; OSError where the disk is full."""
        check_size(self.size_bytes + len(block), most_bytes=self._most_bytes)
        self._file.write(block)
        self._digest.update(block)
        self.size_bytes += len(block)

    def finish(self) -> str:
        """The SHA-256 of the whole file, which is on the disk now: a row may speak of it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._digest.hexdigest()


def check_size(size_bytes: int, *, most_bytes: int) -> None:
    if size_bytes > most_bytes:
        raise UploadTooLarge(f"larger than the limit of {most_bytes:,} bytes for a trace file")


def sweep_uploads(state: Path, *, older_than_s: float) -> int:
    """Remove files that nobody has written to for so long; how many there were."""
    long_ago = time.time() - older_than_s
    removed = 0
    for path in (state / FOLDER).glob("*.part"):
        try:
            if path.stat().st_mtime < long_ago:
                path.unlink()
                removed += 1
        except FileNotFoundError:  # its upload ended meanwhile
            continue
    return removed
