"""What torch says when it refuses: on file descriptor 2 or through Python's warnings, by version and by call."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# A heading ("Flash attention kernel not used because:") or what pinning one backend does to the others.
_NO_REASON = re.compile(r"not used because|runtime disabled|^\s*$", re.IGNORECASE)
_BEFORE = re.compile(r"^\[W.*?\]\s*(Warning:\s*)?|^Warning:\s*")
_AFTER = re.compile(r"\s*\((Triggered internally at|function )[^)]*\)*\s*$")


@contextmanager
def warnings_heard() -> Iterator[list[str]]:
    """Both ways are heard, and neither reaches anyone else; the list is filled when the block ends."""
    heard: list[str] = []
    with tempfile.TemporaryFile() as file, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield heard
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            file.seek(0)
            heard += file.read().decode(errors="replace").splitlines()
            heard += [str(warning.message) for warning in caught]


def first_reason(heard: list[str]) -> str | None:
    """The first thing that says why, without the logger's frame; None where nothing does."""
    bare = (_AFTER.sub("", _BEFORE.sub("", line)).strip() for line in heard)
    return next((line for line in bare if not _NO_REASON.search(line)), None)
