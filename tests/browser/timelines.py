"""The canvas of timelines as tests find it: its state, and what a hand does to it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.conftest import settle

GUTTER = 104
STATE = """() => {
  const find = (root) => [...root.querySelectorAll('*')].map((e) =>
    e.classList.contains('timeline') ? e : e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const { view, lanes, layout, align, selected, query, finder } = find(document).chart;
  return { from: view.from, to: view.to, range: view.range, align, selected, query, hits: finder.total,
    rows: layout.lanes.map((lane) => lane.rows.map((row) => [row.kind, row.folded])),
    seen: layout.lanes.map((lane) => lane.seen), slices: lanes.map((lane) => lane.run?.slices) };
}"""


LONGEST = """() => {
  const find = (root) => [...root.querySelectorAll('*')].map((e) =>
    e.classList.contains('timeline') ? e : e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const { view, layout } = find(document).chart, [{ run, rows }] = layout.lanes;
  const row = rows.find((one) => one.kind === 'stream');
  const own = [...run.start.keys()].filter((i) => run.track[i] === row.tracks[0] && run.depth[i] === 0);
  const i = own.reduce((most, one) => run.duration[one] > run.duration[most] ? one : most);
  const middle = run.start[i] + run.duration[i] / 2;
  return [layout.gutter + (middle - view.from) / (view.to - view.from) * layout.plot, row.top + 10];
}"""


def canvas_of(page: Page) -> Locator:
    canvas = page.locator("canvas[data-ready]").first
    canvas.wait_for()
    canvas.scroll_into_view_if_needed()
    settle(page)
    return canvas


def state_of(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(STATE)
    return found


def click(page: Page, canvas: Locator, x: float, y: float) -> None:
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x, box["y"] + y)


def drag(page: Page, canvas: Locator, left: float, right: float, *, shift: bool) -> None:
    box = canvas.bounding_box()
    assert box is not None
    if shift:
        page.keyboard.down("Shift")
    page.mouse.move(box["x"] + left, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + right, box["y"] + 80, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")


def longest_kernel(page: Page) -> tuple[float, float]:
    """Where on the canvas the longest slice of the first lane's first stream lies."""
    x, y = page.evaluate(LONGEST)
    return x, y
