"""Which trace an address opens: that of a run, or one by its own number. A share token opens what its comparison shows.

None is answered alike for what does not exist, what has no timeline and what the token does not open.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from starlette.requests import Request

from app.addresses import address, identity
from app.context import database
from app.timeline.doubts import Doubt, doubts
from app.timeline.kept import kept
from app.timeline.shown import Part, Shown, show
from db.discretion import discreet, without_machine
from db.session import Database
from db.shares import host_of_trace, hosts_named, look_up_link
from db.traces import TraceIdentity, identify_trace, load_timeline_of, trace_health
from db.views import ComparisonView
from profiles.results import Finding

PLACE = re.compile(r"api/v1/(?P<kind>runs|traces)/(?P<number>\d+)/timeline(?:\?|$)")
TIMELINES_KEPT = 4  # each takes some 30 bytes per slice


@dataclass(frozen=True, slots=True)
class Opened:
    """`name` is what files of it are called."""

    name: str
    trace: TraceIdentity


Opener = Callable[[Request], Opened | None]


def url_of_run(run_id: int, *, token: str | None = None) -> str:
    """Relative to a page at the root. Its siblings end in `/range`, `/slices.csv` and `/chrome.json`."""
    return address(f"api/v1/runs/{run_id}/timeline", token=token)


def url_of_trace(trace_id: int, *, token: str | None = None) -> str:
    """As `url_of_run`, of a trace that no run may have."""
    return address(f"api/v1/traces/{trace_id}/timeline", token=token)


def trace_at(url: str) -> TraceIdentity | None:
    """The trace whose timeline is at this address of ours; whoever drew the page with it was allowed to."""
    found = PLACE.match(url)
    number = identity(found["number"]) if found else None
    if found is None or number is None:
        return None
    of_run = found["kind"] == "runs"
    return identify_trace(database(), run_id=number) if of_run else identify_trace(database(), trace_id=number)


def open_run(request: Request) -> Opened | None:
    run_id = identity(request.path_params["run_id"])
    if run_id is None or not _allowed(request, lambda view: any(entry.run_id == run_id for entry in view.entries)):
        return None
    found = identify_trace(database(), run_id=run_id)
    return None if found is None else Opened(f"fusescope-run-{run_id}", found)


def open_trace(request: Request) -> Opened | None:
    trace_id = identity(request.path_params["trace_id"])
    if trace_id is None or not _allowed(request, lambda view: any(each.trace_id == trace_id for each in view.traces)):
        return None
    found = identify_trace(database(), trace_id=trace_id)
    return None if found is None else Opened(f"fusescope-trace-{trace_id}", found)


def is_shared(url: str) -> bool:
    """Whether a share token is in this address of ours."""
    return "token=" in url


def load(db: Database, trace: TraceIdentity, part: Part, *, shared: bool) -> Shown:
    """Where it is `shared`, as whoever has a share token may see it."""
    return (_shared if shared else _whole)(db, trace, part)


@lru_cache(maxsize=256)
def health(db: Database, trace: TraceIdentity) -> tuple[Finding, ...]:
    """Files and timelines have the same words for all: those that every link may show."""
    return discreet(trace_health(db, trace.trace_id), _tell(db, trace))


def doubts_of(db: Database, trace: TraceIdentity, shown: Shown) -> tuple[Doubt, ...]:
    """What the trace's health puts in doubt of the part that is shown."""
    return doubts(health(db, trace), of_step=shown.step is not None)


@kept(TIMELINES_KEPT)
def _whole(db: Database, trace: TraceIdentity, part: Part) -> Shown:
    """A trace never changes: what was loaded is kept."""
    return show(load_timeline_of(db, trace.trace_id), part)


@kept(TIMELINES_KEPT)
def _shared(db: Database, trace: TraceIdentity, part: Part) -> Shown:
    """No name tells on which machine or where a file lay, whatever the link shows elsewhere: one answer for all."""
    shown = _whole(db, trace, part)
    drawn = shown.timeline
    tell = _tell(db, trace)
    told = replace(
        drawn,
        tracks=discreet(drawn.tracks, tell),
        names=discreet(drawn.names, tell),
        short_names=discreet(drawn.short_names, tell),
        causes=discreet(drawn.causes, tell),
    )
    return replace(shown, timeline=told, tracks=discreet(shown.tracks, tell))


def _tell(db: Database, trace: TraceIdentity) -> Callable[[str], str]:
    return partial(without_machine, hosts=hosts_named(host_of_trace(db, trace.trace_id)))


def _allowed(request: Request, shows: Callable[[ComparisonView], bool]) -> bool:
    """Whether the token, where one is given, opens a comparison that shows it."""
    token = request.query_params.get("token")
    if token is None:
        return True
    shared = look_up_link(database(), token)
    return shared is not None and shows(shared.comparison)
