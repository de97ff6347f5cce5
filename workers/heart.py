"""Beats for what is being measured or read: extends its lease, hears whether to stop. A thread of the pool process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from db.ownership import Beat
from workers.pace import Pace

log = logging.getLogger(__name__)


class Heart:
    """Context manager. `beat` extends the lease of `what`, as logs name it. `lost`: it is no longer this attempt's;
    `cancel_requested`: somebody wants it stopped.

    A database that does not answer is asked again at the next beat: the lease outlasts many.
    """

    def __init__(self, beat: Callable[[], Beat], *, what: str, pace: Pace) -> None:
        self._beat_once, self._what, self._pace = beat, what, pace
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
                log.warning("%s: no beat, the database does not answer: %s", self._what, error)

    def _beat(self) -> None:
        answer = self._beat_once()
        if not answer.owned:
            self.lost.set()
        if answer.cancel_requested:
            self.cancel_requested.set()
