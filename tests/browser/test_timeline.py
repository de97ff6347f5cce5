"""The timeline before a real browser: search, select, fold, ranges, links that restore the view, files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.timeline_frames import synthetic
from db.jobs import submit_job
from db.runs import store_run
from db.shares import make_link
from db.store import TraceStore
from db.traces import save_trace
from db.trials import claim_trial, finish_trial
from db.views import JobView, TrialStatus, ViewState
from profiles.job import JobRequest, TrialRequest
from tests.app.charts.stored import SUMMARY, WORKER, store_job
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.browser.timelines import GUTTER, canvas_of, click, drag, state_of
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs

pytestmark = [pytest.mark.browser, pytest.mark.services]

LARGE = 250_000
COLUMNS = """() => {
  const find = (root) => [...root.querySelectorAll('*')].map((e) =>
    e.classList.contains('timeline') ? e : e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const { run } = find(document).chart.lanes[0];
  return { columns: run.start.length, longest: run.count.reduce((most, one) => Math.max(most, one), 0) };
}"""


@pytest.fixture(scope="module")
def ladder(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> JobView:
    directory = tmp_path_factory.mktemp("timelines")
    return store_job(fusescope.database, directory, [(WORKLOAD, ladder_runs())], environment=H200, name="Flying")


def test_search_lights_all_hits_and_enter_leads_through_them(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder)
    canvas.focus()
    page.keyboard.press("/")
    page.keyboard.type("nvjet")
    told = page.locator(".timeline output")
    expect(told).to_have_text("2 hits")
    page.keyboard.press("Enter")
    expect(told).to_have_text("1 of 2 hits")
    page.keyboard.press("Enter")
    expect(told).to_have_text("2 of 2 hits")
    expect(page.locator(".about")).to_contain_text("297,200 ns")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".about")).to_contain_text("323,300 ns")
    page.keyboard.press("Escape")
    expect(told).to_have_text("")
    assert state_of(page)["query"] == ""
    expect(page).not_to_have_url(re.compile("nvjet"))


def test_hits_are_drawn_in_their_colour_and_the_rest_is_dimmed(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder)
    gemm, pointwise = (GUTTER + 20, 82), (GUTTER + 160, 82)
    before = _colour(page, *gemm), _colour(page, *pointwise)
    page.get_by_label("Search slices by name").fill("nvjet")
    expect(page.locator(".timeline output")).to_have_text("2 hits")
    page.wait_for_timeout(100)
    assert _colour(page, *gemm) == before[0]
    assert _colour(page, *pointwise) != before[1]
    canvas.focus()
    page.keyboard.press("Escape")
    page.wait_for_timeout(100)
    assert _colour(page, *pointwise) == before[1]


def test_a_click_selects_a_slice_and_tells_its_launch(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder)
    click(page, canvas, GUTTER + 20, 76)
    about = page.locator(".about")
    expect(about).to_contain_text("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT")
    expect(about).to_contain_text("323,300 ns")
    expect(about).to_contain_text("cudaLaunchKernel at -8,000 ns, 8,000 ns before")
    expect(page).to_have_url(re.compile("s%3DA.1.0"))
    settle(page)
    page.keyboard.press("Escape")
    expect(about).to_have_text("")


def test_rows_fold_by_their_name_and_by_the_bar_and_stay_folded(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder)
    click(page, canvas, 30, 62)
    assert state_of(page)["rows"][0] == [["launches", True], ["stream", False]]
    expect(page).to_have_url(re.compile("f%3DA.launches"))
    settle(page)
    visit(page, page.url)
    canvas_of(page)
    assert state_of(page)["rows"][:2] == [
        [["launches", True], ["stream", False]],
        [["launches", False], ["stream", False]],
    ]
    page.get_by_role("button", name="streams").click()
    assert all(row[1] == ["stream", True] for row in state_of(page)["rows"])


def test_a_range_lists_kernels_busy_time_and_gaps_of_every_run(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder)
    drag(page, canvas, GUTTER + 5, GUTTER + 500, shift=True)
    sections = page.locator(".below section")
    expect(sections).to_have_count(3)
    expect(sections.first.get_by_role("row")).to_have_count(5)
    expect(sections.first.get_by_role("columnheader", name="Share")).to_be_visible()
    expect(sections.first).to_contain_text("mul (scalar)")
    expect(sections.first).to_contain_text(
        re.compile(r"GPU 0: busy [\d,.]+ of [\d,.]+ µs \(99\.\d %\), 3 gaps of 2\.7 µs")
    )
    link = sections.first.get_by_role("link", name="Slices of this range as CSV").get_attribute("href")
    listed = page.request.get(f"/{link}")
    assert "nvjet 256×128" in listed.text()
    page.keyboard.press("Escape")
    expect(sections).to_have_count(0)


def test_a_copied_address_restores_zoom_folds_range_selection_search_and_alignment(page: Page, ladder: JobView) -> None:
    told = "100.00~9000.00;a=start;f=A.launches;r=200.000~900.000;s=A.1.8000;q=a;b=c"
    _open(page, ladder, "&t=" + told.replace(";", "%3B").replace("=", "%3D"))
    state = state_of(page)
    assert (state["from"], state["to"], state["range"]) == (100_000, 9_000_000, [200_000, 900_000])
    assert (state["align"], state["query"]) == ("start", "a;b=c")
    assert state["selected"] == {"lane": "A", "track": 1, "start": 8000}
    assert state["rows"][0] == [["launches", True], ["stream", False]]
    assert state["slices"][0] == 36
    expect(page.locator(".below section")).to_have_count(3)
    expect(page.locator(".about")).to_contain_text("323,300 ns")


def test_whatever_an_address_says_the_timeline_is_drawn(page: Page, ladder: JobView) -> None:
    _open(page, ladder, "&t=x~y%3Ba%3D%3Bf%3D..%3Br%3D9~1%3Bs%3D%3Cb%3E%3Bq%3D%3Cimg src=x onerror=alert(1)%3E")
    state = state_of(page)
    assert (state["range"], state["selected"], state["align"]) == (None, None, "step")
    expect(page.locator(".timeline output")).to_have_text("no hits")


def test_a_shared_link_opens_the_same_view(new_page: Callable[..., Page], fusescope: Running, ladder: JobView) -> None:
    told = "0.00~900.00;f=A.launches;q=masked"
    saved = ViewState(base="naive", lanes=("A", "B"), zoom=told)
    token, _ = make_link(fusescope.database, ladder.comparison_id, view=saved)
    page = new_page()
    page.goto(f"/s/{token}")
    settle(page)
    canvas_of(page)
    state = state_of(page)
    assert (state["from"], state["to"], state["query"]) == (0, 900_000, "masked")
    assert state["rows"][0][0] == ["launches", True]


def test_aligned_by_start_the_whole_recording_is_drawn(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    assert state_of(page)["slices"][0] == 12
    page.get_by_label("Align the runs").select_option("start")
    expect(page.locator(".status")).to_contain_text("A: all 36 slices drawn")
    expect(page).to_have_url(re.compile("a%3Dstart"))


def test_it_says_how_many_slices_are_drawn_and_why_there_are_none(page: Page, ladder: JobView) -> None:
    _open(page, ladder, "&t=1000.00~1100.00")
    status = page.locator(".status")
    expect(status).to_contain_text("A: 1 of 12 slices drawn")
    expect(status).to_contain_text(re.compile(r"Nothing of \w in this view: it runs from .* 0 shows all\."))
    canvas_of(page).focus()
    page.keyboard.press("0")
    expect(status).to_contain_text("A: all 12 slices drawn")


def test_the_view_is_saved_as_a_picture_and_slices_as_files(page: Page, ladder: JobView, tmp_path: Path) -> None:
    _open(page, ladder)
    page.locator(".timeline summary").click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="This view as PNG").click()
    saving.value.save_as(tmp_path / "view.png")
    assert (tmp_path / "view.png").read_bytes().startswith(b"\x89PNG")
    for name, ending in (("slices as CSV", ".csv"), ("Chrome JSON, for Perfetto", ".json")):
        target = page.get_by_role("link", name=name).first.get_attribute("href")
        answer = page.request.get(f"/{target}")
        assert answer.ok
        assert ending in answer.headers["content-disposition"]


def test_a_timeline_too_large_to_send_is_merged_and_finer_where_it_is_zoomed(
    page: Page, fusescope: Running, tmp_path: Path
) -> None:
    job = _store_large(fusescope, tmp_path)
    canvas = _open(page, job)
    status = page.locator(".status")
    expect(status).to_contain_text(f"A: all {LARGE:,} slices drawn")
    whole = page.evaluate(COLUMNS)
    assert whole["columns"] < LARGE / 4
    canvas.focus()
    page.keyboard.press("/")
    page.keyboard.type("kernel_7<")
    expect(page.locator(".timeline output")).to_have_text(re.compile(r"[\d,]{4,} hits"))
    for _ in range(2):
        page.keyboard.press("Enter")
        settle(page)
    first = state_of(page)["from"]
    page.keyboard.press("Enter")
    assert state_of(page)["from"] > first
    canvas.focus()
    page.keyboard.press("0")
    for _ in range(20):
        page.keyboard.press("w")
    page.wait_for_function(f"() => ({COLUMNS})().longest <= 2")
    near = page.evaluate(COLUMNS)
    assert 20 < near["columns"] < 5_000, near
    expect(status).to_contain_text(re.compile(rf"A: \d+ of {LARGE:,} slices drawn"))
    drag(page, canvas, GUTTER + 100, GUTTER + 400, shift=True)
    expect(page.locator(".below section").get_by_role("row").nth(1)).to_contain_text("kernel_")


def test_arrows_zoom_and_pan(page: Page, ladder: JobView) -> None:
    canvas = _open(page, ladder)
    canvas.focus()
    whole = state_of(page)
    page.keyboard.press("ArrowUp")
    zoomed = state_of(page)
    assert zoomed["to"] - zoomed["from"] == pytest.approx((whole["to"] - whole["from"]) * 0.7)
    page.keyboard.press("ArrowRight")
    assert state_of(page)["from"] > zoomed["from"]
    page.keyboard.press("ArrowDown")
    assert state_of(page)["to"] - state_of(page)["from"] == pytest.approx(whole["to"] - whole["from"])


def test_one_finger_pans_and_two_pinch(new_page: Callable[..., Page], ladder: JobView) -> None:
    page = new_page(viewport=PHONE)
    canvas = _open(page, ladder, "&t=500.00~1500.00")
    before = state_of(page)
    box = canvas.bounding_box()
    assert box is not None
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, *xs: float) -> None:
        points = [{"x": box["x"] + x, "y": box["y"] + 80, "id": i} for i, x in enumerate(xs)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    fingers("touchStart", 200)
    for x in (180, 150, 100):
        fingers("touchMove", x)
    fingers("touchEnd")
    panned = state_of(page)
    assert panned["from"] > before["from"]
    assert panned["to"] - panned["from"] == pytest.approx(1_000_000)
    fingers("touchStart", 150)
    fingers("touchStart", 150, 200)
    for spread in (10, 30, 60):
        fingers("touchMove", 150 - spread, 200 + spread)
    fingers("touchEnd")
    assert state_of(page)["to"] - state_of(page)["from"] < 600_000


def _store_large(fusescope: Running, directory: Path) -> JobView:
    """A job of one run whose trace has more slices than are sent one by one."""
    db, run = fusescope.database, ladder_runs()[0]
    trial = TrialRequest(workload=WORKLOAD, variants=(run.variant,))
    job = submit_job(db, JobRequest(name="Large", device=H200.device, trials=(trial,)))
    owned = {"trial_id": job.trials[0].id, "worker": WORKER}
    attempt = claim_trial(db, job.trials[0].id, worker=WORKER)
    assert attempt is not None
    (directory / "large.json").write_text("a stand-in: pages draw the stored timeline")
    store = TraceStore((directory / "traces").as_uri())
    trace = save_trace(db, store, directory / "large.json", synthetic(LARGE, 1), SUMMARY)
    store_run(db, **owned, attempt=attempt, run=run, environment=H200, trace=trace)
    assert finish_trial(db, **owned, attempt=attempt, status=TrialStatus.DONE)
    return job


def _open(page: Page, job: JobView, query: str = "") -> Locator:
    visit(page, f"/comparison?id={job.comparison_id}{query}")
    return canvas_of(page)


def _colour(page: Page, x: int, y: int) -> list[int]:
    found: list[int] = page.locator("canvas[data-ready]").first.evaluate(
        "(canvas, at) => [...canvas.getContext('2d').getImageData(...at.map((p) => p * devicePixelRatio), 1, 1).data]",
        [x, y],
    )
    return found
