from datetime import timedelta

import msgspec
from sqlalchemy import update

from db.clock import from_now
from db.models import WorkerRow
from db.session import Database
from db.workers import announce, gone, seen, workers
from profiles.worker import Capabilities
from tests.db.examples import submit_and_claim

GPU = Capabilities(
    device="cuda:1",
    device_name="NVIDIA H200",
    memory_bytes=150_000_000_000,
    host="bench-3",
    torch="2.11.0",
    packages={"triton": "3.6.0", "transformers": "5.17.0"},
    compiler=False,
)


def test_an_announced_worker_is_alive_and_shows_what_it_can_do(database: Database) -> None:
    announce(database, "w1", GPU)
    (shown,) = workers(database)
    assert (shown.name, shown.capabilities, shown.alive, shown.trial_id) == ("w1", GPU, True, None)


def test_a_worker_shows_the_trial_that_it_measures(database: Database) -> None:
    announce(database, "w1", GPU)
    announce(database, "w2", GPU)
    _, trial_id, _ = submit_and_claim(database, worker="w2")
    assert [(shown.name, shown.trial_id) for shown in workers(database)] == [("w1", None), ("w2", trial_id)]


def test_a_silent_worker_stays_listed_until_it_is_heard_from_again(database: Database) -> None:
    announce(database, "w1", GPU)
    with database.begin() as session:
        session.execute(update(WorkerRow).values(seen_at=from_now(-16)))
    assert [shown.alive for shown in workers(database)] == [False]
    assert seen(database, "w1")
    assert [shown.alive for shown in workers(database)] == [True]


def test_a_worker_that_stops_in_good_order_is_gone(database: Database) -> None:
    announce(database, "w1", GPU)
    gone(database, "w1")
    gone(database, "w1")
    assert workers(database) == ()
    assert not seen(database, "w1")


def test_a_worker_that_starts_again_replaces_itself(database: Database) -> None:
    announce(database, "w1", GPU)
    with database.begin() as session:
        session.execute(update(WorkerRow).values(seen_at=from_now(-60), started_at=from_now(-60)))
    newer = msgspec.structs.replace(GPU, torch="2.13.0")
    announce(database, "w1", newer)
    (shown,) = workers(database)
    assert (shown.capabilities, shown.alive) == (newer, True)
    assert shown.seen_at - shown.started_at < timedelta(seconds=5)
