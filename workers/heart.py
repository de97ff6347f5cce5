"""Beats for a trial that is being measured: extends its lease, hears whether to stop. A thread of the pool process."""

from __future__ import annotations

import logging
import threading
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from db.session import Database
from db.trials import beat
from workers.pace import Pace

log = logging.getLogger(__name__)


class Heart:
    """Context manager. `lost`: the trial is no longer this attempt's; `cancel_requested`: somebody wants it stopped.

    A database that does not answer is asked again at the next beat: the lease outlasts many.
    """

    def __init__(self, db: Database, *, trial_id: int, worker: str, attempt: int, pace: Pace) -> None:
        self._db, self._pace = db, pace
        self._trial_id, self._worker, self._attempt = trial_id, worker, attempt
        self._over = threading.Event()
        self.lost = threading.Event()
        self.cancel_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Beat no more; returns when the last beat is over."""
        self._over.set()
        self._thread.join()

    @property
    def says_stop(self) -> bool:
        return self.lost.is_set() or self.cancel_requested.is_set()

    def _run(self) -> None:
        while not self._over.wait(self._pace.beat_s) and not self.lost.is_set():
            try:
                self._beat()
            except SQLAlchemyError as error:
                log.warning("trial %d: no beat, the database does not answer: %s", self._trial_id, error)

    def _beat(self) -> None:
        answer = beat(self._db, self._trial_id, worker=self._worker, attempt=self._attempt, lease_s=self._pace.lease_s)
        if not answer.owned:
            self.lost.set()
        if answer.cancel_requested:
            self.cancel_requested.set()
