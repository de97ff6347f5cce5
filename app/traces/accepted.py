"""What is accepted as a trace, in the words of every page that asks for one or refuses one."""

from __future__ import annotations

from profiles.trace.limits import trace_limits

GIB = 1 << 30


def accepted_text() -> str:
    """One line with the limits that this server works under."""
    limits = trace_limits()
    return (
        "Kineto (Chrome) JSON of PyTorch or an Nsight Systems export to SQLite, gzipped or not, up to"
        f" {_size(limits.max_file_bytes)} each ({_size(limits.max_bytes)} unpacked)."
    )


def most_bytes() -> int:
    return trace_limits().max_file_bytes


def _size(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.3g} GiB" if size_bytes >= GIB else f"{size_bytes / (1 << 20):.3g} MiB"
