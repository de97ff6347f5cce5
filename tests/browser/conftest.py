"""A real whole Fusescope (web server, worker, Valkey) on a free port, and a real headless Chromium before it.

Without a Chromium the tests skip; with FUSESCOPE_REQUIRE_SERVICES=1 they fail.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from db import jobs
from db.session import Database, open_database
from profiles import presets
from tests.processes import wait_until

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
UP = "from app.up import up; from db.settings import read_settings; up(read_settings(), '127.0.0.1', {port})"
DESK: ViewportSize = {"width": 1440, "height": 1000}
PHONE: ViewportSize = {"width": 390, "height": 844}
STARTS_WITHIN_S = 60.0
expect.set_options(timeout=15_000)  # other tests run beside these
IDLE = """() => document.querySelector('[data-testid="stMainBlockContainer"] :is(h1, h2)')
  && !document.querySelector('[data-testid="stStatusWidget"], [data-stale="true"]')"""


@dataclass(frozen=True, slots=True)
class Running:
    """A Fusescope that runs: its address, its state and its database."""

    url: str
    state: Path
    database: Database
    process: psutil.Process

    def children(self, *, running: str) -> list[psutil.Process]:
        """Its processes whose command line names `running`."""
        return [child for child in self.process.children(recursive=True) if _runs(child, running)]


@pytest.fixture(scope="session")
def fusescope(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Started once for all tests: each finds what those before it left. It measures on the CPU."""
    state, port = tmp_path_factory.mktemp("state"), _free_port()
    database = _not_empty(state)
    unset = ("FUSESCOPE_DATABASE_URL", "FUSESCOPE_REDIS_URL", "FUSESCOPE_TRACES_URL")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"FUSESCOPE_STATE": str(state), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", UP.format(port=port)]
    with (
        (state / "up.log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as process,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            if (
                not wait_until(lambda: _is_ready(url) or process.poll() is not None, STARTS_WITHIN_S)
                or process.returncode
            ):
                pytest.fail(f"Fusescope did not start:\n{(state / 'up.log').read_text()}")
            yield Running(url=url, state=state, database=database, process=psutil.Process(process.pid))
        finally:
            database.close()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = f"no Chromium was found; looked for {', '.join(NAMES)}"
        if os.environ.get("FUSESCOPE_REQUIRE_SERVICES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Browser, fusescope: Running) -> Iterator[Callable[..., Page]]:
    """Opens a page in a browser that has never been here. What goes wrong in a page fails the test."""
    faults: list[str] = []
    contexts = []

    def open_page(*, viewport: ViewportSize = DESK, dark: bool = False) -> Page:
        context = chromium.new_context(
            base_url=fusescope.url, viewport=viewport, color_scheme="dark" if dark else "light", timezone_id="UTC"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults, "scripts of a page failed"


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()


def visit(page: Page, path: str) -> None:
    """Go there, and wait until it is drawn."""
    page.goto(path)
    settle(page)


def settle(page: Page) -> None:
    """Wait until Streamlit has run the script and drawn what came of it; an exception on the page fails the test."""
    page.wait_for_timeout(150)
    page.wait_for_function(IDLE, timeout=30_000)
    assert page.get_by_test_id("stException").count() == 0, page.get_by_test_id("stException").first.inner_text()


def _not_empty(state: Path) -> Database:
    """A database with a cancelled job: on an empty one the first start measures a ladder, which tests would await."""
    database = open_database(f"sqlite:///{state / 'fusescope.db'}")
    database.upgrade()
    job = jobs.submit_job(database, presets.request("attention-ladder", device="cpu"))
    jobs.cancel_job(database, job.id)
    return database


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=2.0).status_code == 200
    except httpx.TransportError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _runs(process: psutil.Process, text: str) -> bool:
    try:
        return text in " ".join(process.cmdline())
    except psutil.Error:
        return False
