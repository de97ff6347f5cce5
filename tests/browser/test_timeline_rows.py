"""The timeline's rows by keys, on a phone, where they are many, and what lies before and after the work."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from db.direct_imports import ReadFile, store_read_files
from db.store import TraceStore
from db.traces import read_file
from db.views import JobView
from tests.app.charts.stored import store_job
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.browser.timelines import canvas_of, click, state_of
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs
from tests.profiles.trace.conftest import Draft

pytestmark = [pytest.mark.browser, pytest.mark.services]

THREADS = 24
LONG = "recording_of_a_very_long_name_that_no_phone_has_room_for_" * 2
LAID_OUT = """() => {
  const find = (root) => [...root.querySelectorAll('*')].map((e) =>
    e.classList.contains('timeline') ? e : e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const { layout } = find(document).chart;
  return { height: layout.height, cut: layout.lanes.map((lane) => lane.cut), rows: layout.lanes[0].rows.map((row) =>
    ({ kind: row.kind, label: row.label, folded: row.folded, top: row.top, height: row.height, named: row.named })) };
}"""


@pytest.fixture(scope="module")
def ladder(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> JobView:
    directory = tmp_path_factory.mktemp("rows")
    return store_job(fusescope.database, directory, [(WORKLOAD, ladder_runs())], environment=H200, name="Rows")


@pytest.fixture(scope="module")
def threads(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A recording of the host alone: many threads, each with nested operators."""
    draft = Draft()
    for thread in range(THREADS):
        draft.operator("aten::linear", 1000 + 20 * thread, 100, tid=1000 + thread)
        draft.operator("aten::addmm", 1010 + 20 * thread, 50, tid=1000 + thread)
    return _stored(fusescope, tmp_path_factory.mktemp("threads"), LONG, draft)


@pytest.fixture(scope="module")
def around(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Two kernels, and a call of the host long before and one long after them."""
    draft = Draft()
    draft.call("cudaGetDeviceCount", 1000, 91)
    draft.launched(50_000, 1, name="first_kernel")
    draft.launched(50_100, 2, name="second_kernel")
    draft.call("cudaDeviceReset", 90_000, 92)
    return _stored(fusescope, tmp_path_factory.mktemp("around"), "around", draft)


def test_by_keys_slices_are_selected_rows_folded_and_ranges_marked(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder.comparison_id)
    canvas.focus()
    about, said = page.locator(".about"), page.locator(".said")
    page.keyboard.press(".")
    expect(about).to_contain_text("323,300 ns")
    expect(said).to_contain_text(re.compile(r"nvjet 256×128, gemm · .* on stream 7 of A, at 0 ns"))
    whole = state_of(page)["to"] - state_of(page)["from"]
    page.keyboard.press(".")
    second = state_of(page)["selected"]
    assert (second["lane"], second["track"], second["start"] > 0) == ("A", 1, True)
    assert state_of(page)["to"] - state_of(page)["from"] == pytest.approx(whole)
    page.keyboard.press(",")
    page.keyboard.press("k")
    expect(about).to_contain_text("cudaLaunchKernel")
    page.keyboard.press("f")
    expect(said).to_have_text("host launches of A folded")
    assert state_of(page)["rows"][0] == [["launches", True], ["stream", False]]
    page.keyboard.press("f")
    page.keyboard.press("j")
    assert state_of(page)["selected"] == {"lane": "A", "track": 1, "start": 0}
    page.keyboard.press("m")
    assert state_of(page)["range"] == [0, 323_300]
    expect(said).to_have_text("Range of 323.3 µs, listed below")
    page.keyboard.press(".")
    page.keyboard.press("Shift+M")
    first, last = state_of(page)["range"]
    assert first == 0
    assert last > 323_300
    expect(page.locator(".below section")).to_have_count(3)
    page.keyboard.press("j")
    assert state_of(page)["selected"]["lane"] != "A"
    page.keyboard.press("Escape")
    expect(page.locator(".below section")).to_have_count(0)
    expect(said).to_have_text("")


def test_zooming_by_keys_keeps_the_selected_slice_in_view_and_m_marks_the_view(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder.comparison_id)
    canvas.focus()
    page.keyboard.press(".")
    for _ in range(12):
        page.keyboard.press("w")
    state = state_of(page)
    assert 0 < state["from"] < 323_300 / 2 < state["to"] < 323_300
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert state_of(page)["range"] == [state["from"], state["to"]]


def test_a_screen_reader_is_told_what_the_canvas_is_and_where_the_text_is(page: Page, ladder: JobView) -> None:
    _open(page, ladder.comparison_id)
    canvas = page.get_by_role("application", name=re.compile("^Timelines of naive, "))
    expect(canvas).to_have_attribute("aria-label", re.compile("switch below it gives the same view as text"))
    expect(canvas).to_have_attribute("aria-roledescription", "timeline")
    page.get_by_label("Search slices by name").focus()
    for _ in range(12):
        if canvas.evaluate("(canvas) => canvas.matches(':focus-visible')"):
            break
        page.keyboard.press("Tab")
    assert canvas.evaluate("(canvas) => getComputedStyle(canvas).outlineStyle") == "solid"


def test_on_a_phone_names_stand_over_their_rows_and_nothing_leaves_the_screen(
    new_page: Callable[..., Page], threads: int, ladder: JobView
) -> None:
    page = new_page(viewport=PHONE)
    canvas = _open(page, ladder.comparison_id)
    found = page.evaluate(LAID_OUT)
    assert found["cut"] == [False, False, False]
    assert all(row["named"]["height"] and row["named"]["top"] < row["top"] for row in found["rows"])
    click(page, canvas, 60, found["rows"][0]["named"]["top"] + 6)
    assert state_of(page)["rows"][0] == [["launches", True], ["stream", False]]
    page.locator(".timeline summary").click()
    menu = page.locator(".timeline .menu").bounding_box()
    assert menu is not None
    assert 0 <= menu["x"] <= menu["x"] + menu["width"] <= PHONE["width"]
    page.keyboard.press("Escape")
    expect(page.locator(".timeline .menu")).to_be_hidden()
    _open(page, threads)
    assert page.evaluate(LAID_OUT)["cut"] == [True]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_kind_of_very_many_rows_has_them_closer_and_each_tells_its_name(page: Page, threads: int) -> None:
    canvas = _open(page, threads)
    found = page.evaluate(LAID_OUT)
    rows = [row for row in found["rows"] if row["kind"] == "ops"]
    assert [row["label"] for row in rows] == [f"thread {1000 + thread}" for thread in range(THREADS)]
    assert {row["height"] for row in rows} == {2 * 8 + 4}
    assert found["height"] < 800
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + rows[3]["top"] + 5)
    tip = page.locator(".timeline .tip")
    expect(tip).to_contain_text("thread 1003")
    expect(tip).to_contain_text("a click folds operators")


def test_what_the_host_did_around_the_work_can_be_reached(page: Page, around: int) -> None:
    canvas = _open(page, around)
    assert page.get_by_label("Align the runs").locator("option").all_text_contents() == [
        "Time from the first slice",
        "Time from the recording’s start",
    ]
    status = page.locator(".status")
    expect(status).to_contain_text("A: 4 of 6 slices drawn, the others before or after its work: zoom out")
    canvas.focus()
    page.keyboard.press("/")
    for name in ("cudaDeviceReset", "cudaGetDeviceCount"):
        page.get_by_label("Search slices by name").fill(name)
        page.keyboard.press("Enter")
        state = state_of(page)
        assert state["from"] < state["selected"]["start"] < state["to"]
    canvas.focus()
    page.keyboard.press("0")
    for _ in range(30):
        page.keyboard.press("s")
    expect(status).to_contain_text("A: all 6 slices drawn")


def _open(page: Page, comparison_id: int) -> Locator:
    visit(page, f"/comparison?id={comparison_id}")
    canvas = canvas_of(page)
    settle(page)
    return canvas


def _stored(fusescope: Running, directory: Path, name: str, draft: Draft) -> int:
    path = directory / f"{name}.json"
    path.write_text(draft.text())
    (directory / "read").mkdir()
    read = ReadFile(path, read_file(path, directory / "read"))
    return store_read_files(fusescope.database, TraceStore((directory / "traces").as_uri()), [read]).comparison_id
