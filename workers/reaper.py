"""Sends trials and imported traces again whose worker fell silent or whose message was lost, removes files that nobody
waits for and raw traces that were kept long enough, and says that this worker is there.

A thread of every worker's parent process; all changes are conditional, so that any number of them may run.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing

from redis.exceptions import RedisError
from sqlalchemy.exc import OperationalError

from db.errors import DatabaseError
from db.import_claims import expire_import_leases, stale_queued_imports
from db.import_removal import FORGOTTEN_S, sweep_waiting
from db.leases import expire_leases, stale_queued
from db.orphans import sweep_orphans
from db.retention import remove_old_raw
from db.session import Database, open_database
from db.settings import Settings
from db.store import TraceStore
from db.uploads import sweep_uploads
from db.workers import announce, gone, seen
from profiles.worker import Capabilities
from workers.broker import broker_url, connect
from workers.celery_app import TRACES_QUEUE, queue_name
from workers.dispatch import publish_import, publish_trial
from workers.pace import Pace
from workers.reading import sweep_readings

log = logging.getLogger(__name__)

SWEEP_S = 600.0

# A process forked while this thread is in SQLite or holds a lock would inherit them half-way: forks wait for a tick's
# end, and no connection outlives its tick.
_no_fork = threading.Lock()
os.register_at_fork(before=_no_fork.acquire, after_in_parent=_no_fork.release, after_in_child=_no_fork.release)


class Reaper:
    """Starts with `start`; `stop` returns when the last tick is over and the worker has taken its leave.

    A worker without capabilities measures nothing, and is not announced as one that does.
    """

    def __init__(self, settings: Settings, *, worker: str, capabilities: Capabilities | None, pace: Pace) -> None:
        self._settings, self._worker, self._capabilities, self._pace = settings, worker, capabilities, pace
        self._over = threading.Event()
        self._announced = False
        self._swept_at: float | None = None
        self._removes_raw_at = 0.0
        self._thread = threading.Thread(target=self._run, name="reaper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        self._with_database(self._tick)
        while not self._over.wait(self._pace.reap_s):
            self._with_database(self._tick)
        self._with_database(self._leave)

    def _with_database(self, act: Callable[[Database], None]) -> None:
        """A database or broker that does not answer is asked again at the next tick, and so is one that goes wrong in
        any other way: a worker without its reaper would look gone and give nothing away."""
        try:
            with _no_fork, closing(open_database(self._settings.database_url)) as db:
                act(db)
        except (OperationalError, DatabaseError) as error:
            log.warning("the database does not answer: %s", error)
        except RedisError as error:
            log.warning("the broker does not answer: %s", error)
        except Exception:  # the edge of a thread that nobody would miss
            log.exception("a tick of the reaper failed")

    def _tick(self, db: Database) -> None:
        if self._capabilities is not None and not (self._announced and seen(db, self._worker)):
            announce(db, self._worker, self._capabilities)
            self._announced = True
        reap(db, self._settings, pace=self._pace)
        self._remove_raw(db)
        self._sweep(db)

    def _leave(self, db: Database) -> None:
        if self._capabilities is not None:
            gone(db, self._worker)

    def _remove_raw(self, db: Database) -> None:
        """Some with every tick; a store that fails is asked again after a while."""
        if self._settings.keep_raw_days is not None and time.monotonic() >= self._removes_raw_at:
            self._removes_raw_at = time.monotonic() + SWEEP_S
            remove_raw(db, self._settings, keep_days=self._settings.keep_raw_days)
            self._removes_raw_at = 0.0

    def _sweep(self, db: Database) -> None:
        """Now and then: to list the files of an object store takes a while."""
        now = time.monotonic()
        if self._swept_at is None or now - self._swept_at > SWEEP_S:
            self._swept_at = now
            sweep(db, self._settings)


def reap(db: Database, settings: Settings, *, pace: Pace) -> None:
    """Send the trials and imports again whose lease ran out, and those that wait though their queue is empty.

    In a queue that is not empty a trial's message may still be on its way; sending it again with every look would
    fill the queue of a device that nobody has.
    """
    for trial_id, device in expire_leases(db):
        log.warning("trial %d: its worker fell silent; sent again", trial_id)
        publish_trial(settings, trial_id, device)
    stale = stale_queued(db, older_than_s=pace.stale_s)
    empty = {device for device in {device for _, device in stale} if _is_empty(settings, queue_name(device))}
    for trial_id, device in stale:
        if device in empty:
            log.warning("trial %d: waited without a message; sent again", trial_id)
            publish_trial(settings, trial_id, device)
    _reap_imports(db, settings, pace=pace)


def _reap_imports(db: Database, settings: Settings, *, pace: Pace) -> None:
    for import_id in expire_import_leases(db, TraceStore(settings.traces_url)):
        log.warning("imported trace %d: its worker fell silent; sent again", import_id)
        publish_import(settings, import_id)
    stale = stale_queued_imports(db, older_than_s=pace.stale_s)
    for import_id in stale if stale and _is_empty(settings, TRACES_QUEUE) else ():
        log.warning("imported trace %d: waited without a message; sent again", import_id)
        publish_import(settings, import_id)


def remove_raw(db: Database, settings: Settings, *, keep_days: float) -> None:
    """Remove some of the raw traces that are older than that."""
    removed = remove_old_raw(db, TraceStore(settings.traces_url), keep_days=keep_days)
    if removed:
        log.info("%d raw traces removed, kept for %g days", removed, keep_days)


def sweep(db: Database, settings: Settings, *, older_than_s: float = FORGOTTEN_S) -> None:
    """Remove what a crash left behind: uploads that broke off, files without a row, directories of killed readers."""
    store = TraceStore(settings.traces_url)
    removed = sweep_waiting(db, store, older_than_s=older_than_s)
    removed += sweep_orphans(db, store, older_than_s=older_than_s)
    removed += sweep_uploads(settings.state, older_than_s=older_than_s)
    removed += sweep_readings(settings.state, older_than_s=older_than_s)
    if removed:
        log.warning("%d forgotten files removed", removed)


def _is_empty(settings: Settings, queue: str) -> bool:
    with closing(connect(broker_url(settings))) as client:
        return client.llen(queue) == 0
