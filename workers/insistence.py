"""Writing again what the database did not answer to: a server restarts within INSIST_S, and writes are fenced."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import OperationalError

log = logging.getLogger(__name__)

Written = TypeVar("Written")
INSIST_S = 60.0
INSIST_EVERY_S = 0.5


def insist(write: Callable[[], Written], *, what: str, stopping: Callable[[], bool] = lambda: False) -> Written:
    """What `write` returns; OperationalError where the database goes on not answering, or this worker is to stop."""
    deadline = time.monotonic() + INSIST_S
    while True:
        try:
            return write()
        except OperationalError as error:
            if time.monotonic() > deadline or stopping():
                raise
            log.warning("%s: not stored yet, the database does not answer: %s", what, error)
            time.sleep(INSIST_EVERY_S)
