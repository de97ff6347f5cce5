"""The Celery application: how the ids of trials and imported traces travel. The database, not the broker, says what
becomes of them."""

from __future__ import annotations

from celery import Celery

MEASURE_TRIAL = "fusescope.measure_trial"
READ_TRACE = "fusescope.read_trace"
TRACES_QUEUE = "fusescope.traces"
VISIBILITY_S = 24 * 3600
"""Longer than any trial: an id is delivered again by the reaper, never because a measurement took long."""


def make_app(url: str) -> Celery:
    """JSON only, no results, no time limits of Celery's: one trial at a time, acknowledged when it has ended."""
    app = Celery("fusescope", broker=url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            # Queues take turns: a trace waits for the trial that is being measured, not for all that are queued.
            "queue_order_strategy": "round_robin",
            "visibility_timeout": VISIBILITY_S,
            "socket_connect_timeout": 2.0,
            "socket_timeout": 10.0,
            "socket_keepalive": True,
        },
        result_backend=None,
        task_acks_late=True,
        task_create_missing_queues=True,
        task_default_queue="fusescope.none",
        task_ignore_result=True,
        # A pool process that is killed leaves a trial whose lease runs out; delivering the id at once finds it taken.
        task_reject_on_worker_lost=False,
        task_serializer="json",
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_pool="prefork",
        worker_pool_start_method="fork",
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
    )
    return app


def queue_name(device_class: str) -> str:
    """Of a job's device class: `cpu`, `cuda` or `cuda:N`."""
    return f"fusescope.{device_class}"


def queues_of(device: str) -> tuple[str, ...]:
    """What the worker of a device listens to: its own queue, that of any device of its kind, and that of traces."""
    kind = device.partition(":")[0]
    own = (queue_name(device),) if device == kind else (queue_name(device), queue_name(kind))
    return (*own, TRACES_QUEUE)
