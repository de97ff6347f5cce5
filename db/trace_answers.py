"""The plain text that lists keep of a comparison of traces."""

from __future__ import annotations

from collections.abc import Sequence

from db.views import ComparedTrace


def whole_answer(traces: Sequence[ComparedTrace]) -> str | None:
    """None until something is read or everything has ended."""
    failed = [trace for trace in traces if trace.failure is not None]
    if not failed or len(failed) < len(traces):
        return None
    first, others = failed[0], len(failed) - 1
    assert first.failure is not None, "only failed ones are here"
    rest = f" And {others} more could not be read." if others else ""
    return f"{first.label} could not be read: {first.failure.message}.{rest}"
