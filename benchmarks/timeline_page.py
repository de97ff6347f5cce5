"""From a click to the picture of large timelines, through whole pages: `python benchmarks/timeline_page.py`.

A Fusescope with a database of its own shows comparisons of two imported traces of `--slices` each. A page is opened by
following its address in a browser that was here before, and the picture is there when the canvas says so. Each
comparison is opened twice: at first the server reads the traces from the database, then it has them in memory. `letter`
is a lane more on a page that is open. At the end the view is zoomed as by `timeline_frames.py`, and once more between
frames that draw nothing.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright

from benchmarks.timeline_frames import FLAGS, synthetic, zoom
from db.direct_imports import ReadFile, store_read_files
from db.session import Database, open_database
from db.store import TraceStore
from db.traces import read_of
from tests.app.charts.stored import SUMMARY

DRAWN = "fusescope timelines drawn"
STARTS_WITHIN_S = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slices", type=int, default=100_000, help="of each trace")
    parser.add_argument("--times", type=int, default=5, help="comparisons, each opened at first and again")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        ids = _store(Path(directory), options.slices, options.times)
        with _served(Path(directory)) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.goto(f"{url}/history")
            page.locator("h1").first.wait_for()
            print(f"2 traces of {options.slices:,} slices; load {os.getloadavg()[0]:.1f}")
            _measure(page, url, ids)
            page.locator("canvas").first.scroll_into_view_if_needed()
            zoom(page, options.frames)
            browser.close()


def _measure(page: Page, url: str, ids: Sequence[int]) -> None:
    _opened(page, f"{url}/comparison?id={ids[0]}")  # the first visitor of all waits for imports
    took: dict[str, list[float]] = {"at first": [], "again": [], "letter": []}
    for comparison_id in ids[1:]:
        took["at first"].append(_opened(page, f"{url}/comparison?id={comparison_id}"))
        took["again"].append(_opened(page, f"{url}/comparison?id={comparison_id}"))
        _opened(page, f"{url}/comparison?id={comparison_id}&tv=A")
        took["letter"].append(_added(page, "B"))
    for name, values in took.items():
        print(f"{name}: median {statistics.median(values):.2f} s, {min(values):.2f}–{max(values):.2f} of {len(values)}")


def _opened(page: Page, address: str) -> float:
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    return _drawn(page, since=0)


def _added(page: Page, letter: str) -> float:
    """From the click on a letter to the picture with its lane."""
    since = float(page.evaluate("performance.now()"))
    page.get_by_test_id("stButtonGroup").get_by_text(letter, exact=True).first.click()
    return _drawn(page, since=since)


def _drawn(page: Page, *, since: float) -> float:
    """Seconds from `since` (ms on the page's clock, 0 where it was asked for) to the picture: the canvas marks it."""
    page.wait_for_function(
        "([name, since]) => performance.getEntriesByName(name).some((m) => m.startTime > since)",
        arg=[DRAWN, since],
        timeout=60_000,
    )
    marks = page.evaluate("(name) => performance.getEntriesByName(name).map((mark) => mark.startTime)", DRAWN)
    return float(min(mark for mark in marks if mark > since) - since) / 1e3


def _store(directory: Path, slices: int, times: int) -> list[int]:
    db = open_database(f"sqlite:///{directory / 'fusescope.db'}")
    db.upgrade()
    found = [_comparison(db, directory, slices, seed) for seed in range(times + 1)]
    db.close()
    return found


def _comparison(db: Database, directory: Path, slices: int, seed: int) -> int:
    """Of two imported traces that differ from all others'; their raw files are stand-ins."""
    files = []
    for place in range(2):
        raw = directory / f"generated-{seed}-{place}.json"
        raw.write_text(f"a stand-in for trace {seed}.{place}: pages draw the stored timeline")
        files.append(ReadFile(raw, read_of(synthetic(slices, 2 * seed + place), SUMMARY, None)))
    return store_read_files(db, TraceStore((directory / "traces").as_uri()), files).comparison_id


@contextmanager
def _served(state: Path) -> Iterator[str]:
    """The web server alone: nothing is measured here."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    unset = ("FUSESCOPE_DATABASE_URL", "FUSESCOPE_REDIS_URL", "FUSESCOPE_TRACES_URL")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    command = [sys.executable, "-m", "app.server", "--port", str(port)]
    with subprocess.Popen(command, env=environment | {"FUSESCOPE_STATE": str(state)}) as server:
        try:
            _await(f"http://127.0.0.1:{port}/readyz")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _await(address: str) -> None:
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end:
        try:
            if httpx.get(address, timeout=5.0).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"the web server was not ready within {STARTS_WITHIN_S:.0f} s")


if __name__ == "__main__":
    main()
