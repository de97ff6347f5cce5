"""Sends the ids of trials and imported traces to the queues. Imports no torch; a broker that is down costs nothing: the
reaper sends again."""

from __future__ import annotations

import logging
from functools import lru_cache

from celery import Celery
from kombu.exceptions import OperationalError

from db.settings import Settings
from db.views import JobView, TrialStatus
from workers.broker import broker_url
from workers.celery_app import MEASURE_TRIAL, READ_TRACE, TRACES_QUEUE, make_app, queue_name

log = logging.getLogger(__name__)


def publish_job(settings: Settings, job: JobView) -> bool:
    """Send the queued trials of the job, until the broker fails; whether it took them all."""
    queued = [trial for trial in job.trials if trial.status is TrialStatus.QUEUED]
    return all(publish_trial(settings, trial.id, job.request.device) for trial in queued)


def publish_trial(settings: Settings, trial_id: int, device: str) -> bool:
    """Send one trial's id to the queue of its device class. False, and a line in the log, where the broker is down."""
    return _send(settings, MEASURE_TRIAL, trial_id, queue=queue_name(device))


def publish_import(settings: Settings, import_id: int) -> bool:
    """Send one imported trace's id to the queue of traces. False, and a line in the log, where the broker is down."""
    return _send(settings, READ_TRACE, import_id, queue=TRACES_QUEUE)


def _send(settings: Settings, task: str, row_id: int, *, queue: str) -> bool:
    try:
        _app(broker_url(settings)).send_task(task, args=[row_id], queue=queue, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("%s %d waits for the reaper: the broker does not answer: %s", task, row_id, error)
        return False
    return True


@lru_cache(maxsize=8)
def _app(url: str) -> Celery:
    """Made for a page that waits: one try, unlike a worker, which waits for its broker."""
    app = make_app(url)
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "max_retries": 0}
    return app
