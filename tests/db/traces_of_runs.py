"""What is stored of the trace of a run, by the way that pages take."""

from __future__ import annotations

from db.session import Database
from db.traces import TraceIdentity, identify_trace, load_timeline_of
from profiles.trace.timeline import Timeline


def trace_of(db: Database, run_id: int) -> TraceIdentity:
    found = identify_trace(db, run_id=run_id)
    assert found is not None
    return found


def timeline_of(db: Database, run_id: int) -> Timeline:
    return load_timeline_of(db, trace_of(db, run_id).trace_id)
