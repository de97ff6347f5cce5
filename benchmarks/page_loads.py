"""Warm page loads in headless Chromium: `python benchmarks/page_loads.py http://127.0.0.1:8501`.

Needs a running Fusescope with the shipped samples; each load is a fresh browser context, as a new visitor's.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass

from playwright.sync_api import Browser, sync_playwright

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
LOADS = 10


@dataclass(frozen=True, slots=True)
class Target:
    """A page is there when `shown` is: the last thing that a reader waits for."""

    name: str
    path: str
    shown: str


TARGETS = (
    Target("start", "/", "text=Devices"),
    Target("comparison of 7 variants, table", "/comparison?id=1", ".fs-variants tbody tr:nth-child(7)"),
    Target("comparison of 7 variants, timelines drawn", "/comparison?id=1", "canvas[data-ready]"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=FLAGS)
        for target in TARGETS:
            _load(browser, options.url, target)
            took = sorted(_load(browser, options.url, target) for _ in range(LOADS))
            print(f"{target.name}: median {statistics.median(took):.2f} s, {took[0]:.2f}–{took[-1]:.2f} s of {LOADS}")
        browser.close()


def _load(browser: Browser, url: str, target: Target) -> float:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    started = time.monotonic()
    page.goto(url + target.path, wait_until="commit")
    page.locator(target.shown).first.wait_for()
    took = time.monotonic() - started
    context.close()
    return took


if __name__ == "__main__":
    main()
