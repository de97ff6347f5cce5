"""What the pages and workers of `fusescope up` need: the queue's server, the tables and, at the first start, something
to look at. Loaded while the web server starts, because SQLAlchemy takes a while too."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from app.up_checks import UpError
from db.bundles import import_bundle
from db.history import comparisons
from db.jobs import submit_job
from db.session import Database, open_database
from db.settings import Settings
from db.store import TraceStore
from profiles import presets
from profiles.bundle import BundleError
from workers.broker import broker_url, connect, own_directory, socket_path
from workers.dispatch import publish_job
from workers.keeper import Keeper, Service
from workers.valkey import answers, server_command

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
FIRST_PRESET = "attention-ladder"
READY_S = 30.0
POLL_S = 0.02


def start_queue_server(keeper: Keeper, settings: Settings) -> None:
    """Ready when it returns: what it kept on disk is loaded by then."""
    path, directory = socket_path(settings.state), settings.state / "queue"
    directory.mkdir(exist_ok=True)
    try:
        own_directory(path.parent)
    except PermissionError as error:
        raise UpError(str(error)) from error
    command = ("exec", *server_command(socket=path, directory=directory))
    log = settings.state / "logs" / "queue.log"
    keeper.start(Service(name="queue server", command=command, log=log, needed=True))
    with closing(connect(broker_url(settings))) as client:
        deadline = time.monotonic() + READY_S
        while not answers(client):
            if time.monotonic() > deadline:
                raise UpError(f"the queue server did not start; see {log}")
            time.sleep(POLL_S)


def remove_socket(settings: Settings) -> None:
    """Once the server has stopped: nothing is left outside the state directory."""
    path = socket_path(settings.state)
    path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        path.parent.rmdir()


def prepare_database(
    settings: Settings, *, device: str | None, say: Callable[[str], None], samples: Path = SAMPLES
) -> None:
    """Bring the tables to this version. An empty database gets the samples, and a job for `device`, this machine's,
    where it can measure."""
    with closing(open_database(settings.database_url)) as db:
        db.upgrade()
        if comparisons(db, limit=1).total == 0:
            _import_samples(db, settings, samples, say)
            if device is not None:
                _submit_first_job(db, settings, device, say)


def _submit_first_job(db: Database, settings: Settings, device: str, say: Callable[[str], None]) -> None:
    submitted = submit_job(db, presets.request(FIRST_PRESET, device=device))
    publish_job(settings, submitted)
    say(f"First start: measuring {submitted.request.name} on {device}; the pages show it as it comes in")


def _import_samples(db: Database, settings: Settings, samples: Path, say: Callable[[str], None]) -> None:
    """One that cannot be read is no reason not to start."""
    store = TraceStore(settings.traces_url)
    for path in sorted(samples.glob("*.fusescope")):
        try:
            import_bundle(db, store, path)
        except BundleError as error:
            say(f"the sample {path.name} was left out: {error}")
