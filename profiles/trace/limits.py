"""The limits on a trace file that this process works under: the defaults, or what the environment says."""

from __future__ import annotations

import os
from collections.abc import Mapping

from profiles.trace.errors import TraceError
from profiles.trace.model import TraceLimits

DEFAULT = TraceLimits()
MAX_FILE_BYTES = "FUSESCOPE_TRACE_MAX_FILE_BYTES"
MAX_BYTES = "FUSESCOPE_TRACE_MAX_BYTES"


class WrongLimit(TraceError):  # noqa: N818 - says what is wrong
    """A limit in the environment that is no number of bytes."""


def trace_limits(environ: Mapping[str, str] = os.environ) -> TraceLimits:
    return TraceLimits(
        max_file_bytes=_bytes(environ, MAX_FILE_BYTES, DEFAULT.max_file_bytes),
        max_bytes=_bytes(environ, MAX_BYTES, DEFAULT.max_bytes),
    )


def _bytes(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if text is None:
        return default
    if not text.strip().isdecimal() or int(text) == 0:
        raise WrongLimit(f"{name} is {text!r}; expected a whole number of bytes above 0")
    return int(text)
