"""What can be wrong with a trace file: one line for people, with the place where there is one."""

ACCEPTED = (
    "expected a Chrome trace as PyTorch's profiler exports it (JSON), or an SQLite export of Nsight Systems, plain or"
    " gzip"
)


class TraceError(ValueError):
    """A file that gives no trace."""


class UnsupportedFormat(TraceError):  # noqa: N818 - says what the file is
    """A file of another kind, refused by name."""


class UnreadableTrace(TraceError):  # noqa: N818
    """A broken file; the message names the place."""


class TraceTooLarge(TraceError):  # noqa: N818
    """Past a limit on size, compression ratio, nesting, memory or time."""


class NotWanted(Exception):  # noqa: N818
    """Nobody waits for it any more: it was read no further. Says nothing of the file."""
