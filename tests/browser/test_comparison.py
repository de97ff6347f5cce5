"""The comparison page before a real browser, on ladders as an H200 and a CPU measured them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from db.runs import store_run
from db.trials import finish_trial
from db.views import JobView, TrialStatus
from profiles.results import FailureKind
from tests.app.charts.stored import WORKER, store_job
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.profiles.comparison.ladder import H200, WORKLOAD, failed, ladder_runs, refused
from tests.profiles.comparison.other import (
    CPU,
    CPU_LADDER,
    DECODER,
    NORM,
    SWIGLU,
    cpu_runs,
    decoder_runs,
    norm_runs,
    swiglu_runs,
)

pytestmark = [pytest.mark.browser, pytest.mark.services]

LOADS_WITHIN_S = 1.5
VIEW = """() => {
  const find = (root) => [...root.querySelectorAll('*')].map((e) =>
    e.classList.contains('timeline') ? e : e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const { view, lanes } = find(document).chart;
  return { from: view.from, to: view.to, range: view.range, lanes: lanes.map((lane) => lane.key) };
}"""


@pytest.fixture(scope="module")
def ladder(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> JobView:
    directory = tmp_path_factory.mktemp("ladder")
    return store_job(fusescope.database, directory, [(WORKLOAD, ladder_runs())], environment=H200)


def test_answer_and_table_say_what_is_fastest_and_why(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    expect(_answer(page)).to_contain_text("sdpa_auto is 25.4× faster than naive")
    rows = page.locator(".fs-variants tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.first).to_contain_text("naive")
    expect(rows.first).to_contain_text("baseline")
    expect(rows.nth(1)).to_contain_text("auto → cuDNN")
    expect(rows.nth(1)).to_contain_text("▲ 25.4×")
    expect(page.locator(".fs-ledger-block").first).to_contain_text("nvjet 256×128")
    expect(page.get_by_role("heading", name="Attention ladder, S 2048", level=1)).to_be_visible()


def test_baseline_and_time_follow_the_viewer_and_stand_in_the_address(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    _choose_baseline(page, "sdpa_flash")
    expect(_answer(page)).to_contain_text("sdpa_auto is 1.55× faster than sdpa_flash")
    page.get_by_role("radio", name="Back-to-back").click()
    expect(_answer(page)).to_contain_text("sdpa_auto is 1.73× faster than sdpa_flash")
    expect(page).to_have_url(re.compile("base=sdpa_flash.*by=call_time"))
    visit(page, page.url)
    expect(_answer(page)).to_contain_text("1.73× faster than sdpa_flash")
    page.get_by_role("radio", name="GPU time").click()
    expect(page).not_to_have_url(re.compile("by="))


def test_lanes_and_kernel_list_are_picked_by_letter_and_kept_in_the_address(page: Page, ladder: JobView) -> None:
    _open(page, ladder, "&tv=A&tv=E&kv=B")
    assert _view(page)["lanes"] == ["A", "E"]
    kernels = page.locator(".fs-kernels").first
    expect(kernels).to_contain_text("masked_fill_")
    expect(kernels).not_to_contain_text("Memcpy DtoD")


def test_timeline_zooms_pans_and_fits_by_keys_and_the_address_keeps_the_view(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    canvas, whole = _canvas(page), _view(page)
    _hover(page, canvas, 400, 70)
    canvas.focus()
    page.keyboard.press("w")
    page.keyboard.press("w")
    zoomed = _view(page)
    assert zoomed["to"] - zoomed["from"] == pytest.approx((whole["to"] - whole["from"]) * 0.49, rel=1e-6)
    page.keyboard.press("d")
    assert _view(page)["from"] > zoomed["from"]
    expect(page).to_have_url(re.compile(r"t=-?[\d.]+~[\d.]+"))
    settle(page)
    kept = _view(page)
    visit(page, page.url)
    _canvas(page)
    again = _view(page)
    assert (again["from"], again["to"]) == pytest.approx((kept["from"], kept["to"]), abs=10)
    _canvas(page).focus()
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile(r"[?&]t="))


def test_a_step_back_takes_the_timeline_back_too(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    canvas, whole = _canvas(page), _view(page)
    canvas.focus()
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile(r"[?&]t="))
    settle(page)
    zoomed = _view(page)
    page.keyboard.press("w")
    page.wait_for_function("(first) => location.href !== first", arg=page.url)
    settle(page)
    page.go_back()
    _expect_view(page, zoomed)
    settle(page)
    page.go_back()
    _expect_view(page, whole)
    expect(page).not_to_have_url(re.compile(r"[?&]t="))
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile(r"[?&]t="))


def test_rerun_of_the_page_leaves_the_canvas_its_focus_and_its_view(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    canvas = _canvas(page)
    canvas.focus()
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile(r"[?&]t="))
    settle(page)
    before = _view(page)
    page.keyboard.press("+")
    assert _view(page)["to"] < before["to"]


def test_hovering_tells_the_kernel_in_full(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    _hover(page, _canvas(page), 130, 76)
    tip = page.locator(".timeline .tip")
    expect(tip).to_contain_text("gemm · scores · 323.3 µs · 7.1 % of naive")
    expect(tip).to_contain_text("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT")


def test_shift_drag_measures_and_escape_clears(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    canvas = _canvas(page)
    box = canvas.bounding_box()
    assert box is not None
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 300, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 80)
    page.mouse.up()
    page.keyboard.up("Shift")
    first, last = _view(page)["range"]
    assert last - first == pytest.approx(
        (_view(page)["to"] - _view(page)["from"]) * 200 / (box["width"] - 104), rel=0.01
    )
    page.keyboard.press("Escape")
    assert _view(page)["range"] is None


def test_wheel_scrolls_the_page_until_the_canvas_has_the_focus(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    canvas, whole = _canvas(page), _view(page)
    _hover(page, canvas, 400, 70)
    page.mouse.wheel(0, 40)
    page.wait_for_timeout(200)
    assert _view(page) == whole
    canvas.focus()
    _hover(page, canvas, 400, 70)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(200)
    assert _view(page)["to"] - _view(page)["from"] < whole["to"] - whole["from"]


def test_arriving_runs_refresh_the_page_by_themselves(page: Page, fusescope: Running, tmp_path: Path) -> None:
    runs = ladder_runs()
    job = store_job(
        fusescope.database, tmp_path, [(WORKLOAD, runs[:1])], environment=H200, name="Arriving", to_come=["sdpa_auto"]
    )
    _open(page, job)
    expect(page.get_by_text("1 measured · 1 to come")).to_be_visible()
    expect(page.get_by_text("running", exact=True)).to_be_visible()
    trial = job.trials[0].id
    owned = {"trial_id": trial, "worker": WORKER, "attempt": 1}
    assert store_run(fusescope.database, **owned, run=runs[2], environment=H200) is not None
    expect(_answer(page)).to_contain_text("sdpa_auto is 25.4× faster", timeout=15_000)
    assert finish_trial(fusescope.database, **owned, status=TrialStatus.DONE)
    expect(page.get_by_text("running", exact=True)).to_have_count(0, timeout=15_000)


def test_failed_comparison_says_why_and_leads_on(page: Page, fusescope: Running, tmp_path: Path) -> None:
    runs = [
        failed("naive", FailureKind.OUT_OF_MEMORY, "wanted 64.0 GiB"),
        refused("sdpa_cudnn", "head_dim 60 is no multiple of 8"),
    ]
    job = store_job(fusescope.database, tmp_path, [(WORKLOAD, runs)], environment=H200, name="Too large")
    _open(page, job, drawn=False)
    expect(_answer(page)).to_have_text("No variant could be measured. naive ran out of memory.")
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    expect(page.locator("tr.refused")).to_contain_text("head_dim 60 is no multiple of 8")
    page.get_by_role("button", name="Change").click()
    expect(page).to_have_url(re.compile("/new-job"))


def test_two_workloads_have_a_section_each(page: Page, fusescope: Running, tmp_path: Path) -> None:
    trials = [(SWIGLU, swiglu_runs()), (NORM, norm_runs())]
    job = store_job(fusescope.database, tmp_path, trials, environment=H200, name="Fusion pairs")
    _open(page, job)
    expect(page.locator(".fs-workload")).to_have_text(
        ["swiglu 8192×2048, hidden 5632, bf16", "residual_rms_norm 8192×2048, bf16"]
    )
    expect(_answer(page)).to_have_count(2)
    expect(page.locator(".fs-caveat")).to_contain_text("Called back to back, functional is faster")


def test_whole_model_shows_tokens_and_a_cpu_shows_operators(page: Page, fusescope: Running, tmp_path: Path) -> None:
    model = store_job(fusescope.database, tmp_path, [(DECODER, decoder_runs())], environment=H200, name="Decoder")
    _open(page, model)
    expect(_answer(page)).to_contain_text("145,000 against 67,000 tokens/s")
    expect(page.get_by_text("25 more, 32 % of the time")).to_be_visible()
    cpu = store_job(fusescope.database, tmp_path, [(CPU_LADDER, cpu_runs())], environment=CPU, name="Laptop")
    _open(page, cpu)
    expect(_answer(page)).to_contain_text("6 operators became 1 operator")
    expect(page.get_by_role("columnheader", name="Kernels")).to_have_count(0)


def test_phone_shows_four_columns_and_nothing_wider_than_itself(new_page: Callable[..., Page], ladder: JobView) -> None:
    page = new_page(viewport=PHONE)
    _open(page, ladder)
    shown = [cell for cell in page.locator(".fs-variants thead th").all() if cell.is_visible()]
    assert [cell.inner_text().split("\n")[0] for cell in shown] == ["Variant", "Kernels", "GPU time", "Speed-up"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_renaming_shows_at_once(page: Page, fusescope: Running, tmp_path: Path) -> None:
    job = store_job(fusescope.database, tmp_path, [(WORKLOAD, ladder_runs()[:2])], environment=H200, name="Old name")
    _open(page, job)
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("Kernel review")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Kernel review", level=1)).to_be_visible()


def test_exports_are_offered_as_files(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    page.get_by_role("button", name="Export").click()
    for name, ending in (("Bundle, with traces", "fusescope"), ("JSON", "json"), ("CSV", "csv")):
        target = page.get_by_role("link", name=name).get_attribute("href")
        assert target is not None
        answer = page.request.get(f"/{target}")
        assert answer.ok, (name, answer.status)
        assert f".{ending}" in answer.headers["content-disposition"]


def test_a_step_back_from_another_page_leads_to_the_comparison(page: Page, ladder: JobView) -> None:
    _open(page, ladder, "&base=sdpa_flash")
    address = page.url
    page.get_by_test_id("stTopNavLink").get_by_text("Workers").click()
    expect(page.get_by_role("heading", name="Workers", exact=True)).to_be_visible()
    settle(page)
    page.go_back()
    expect(page).to_have_url(address)
    expect(_answer(page)).to_contain_text("faster than sdpa_flash")


@pytest.mark.parametrize("number", ["99999", "9" * 23, "x"])
def test_unknown_comparison_is_said_kindly(page: Page, number: str) -> None:
    page.goto(f"/comparison?id={number}")
    expect(page.get_by_text("There is no such comparison.")).to_be_visible()


def test_every_sample_is_drawn_on_request_and_the_address_keeps_it(page: Page, ladder: JobView) -> None:
    _open(page, ladder)
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    page.get_by_text("Show every sample").click()
    expect(page.locator(".js-plotly-plot .ytick")).to_have_count(7)
    page.reload()
    expect(page.locator(".js-plotly-plot .ytick")).to_have_count(7)


def test_seven_variants_load_warm_within_a_second_and_a_half(page: Page, ladder: JobView) -> None:
    """The best of a few: other tests run beside this one."""
    _open(page, ladder)
    took: list[float] = []
    while len(took) < 10 and min(took, default=9.0) > LOADS_WITHIN_S:
        started = time.monotonic()
        page.goto(f"/comparison?id={ladder.comparison_id}", wait_until="commit")
        page.locator(".fs-variants tbody tr").nth(6).wait_for()
        took.append(time.monotonic() - started)
    assert min(took) <= LOADS_WITHIN_S, took


def _open(page: Page, job: JobView, query: str = "", *, drawn: bool = True) -> None:
    visit(page, f"/comparison?id={job.comparison_id}{query}")
    _answer(page).first.wait_for()
    if drawn:
        page.locator("canvas[data-ready]").first.wait_for()


def _answer(page: Page) -> Locator:
    return page.locator(".fs-answer")


def _canvas(page: Page) -> Locator:
    """The first timeline, once its columns have arrived."""
    canvas = page.locator("canvas[data-ready]").first
    canvas.wait_for()
    canvas.scroll_into_view_if_needed()
    return canvas


def _expect_view(page: Page, wanted: dict[str, object]) -> None:
    for _ in range(50):
        if all(abs(_view(page)[end] - wanted[end]) < 10 for end in ("from", "to")):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"the timeline shows {_view(page)}, not {wanted}")


def _view(page: Page) -> dict[str, object]:
    found: dict[str, object] = page.evaluate(VIEW)
    return found


def _hover(page: Page, canvas: Locator, x: float, y: float) -> None:
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)


def _choose_baseline(page: Page, variant: str) -> None:
    page.get_by_role("combobox", name="Baseline").click()
    page.get_by_role("option", name=variant, exact=True).click()
