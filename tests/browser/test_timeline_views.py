"""The timeline of imported traces, its causes and doubts, and the view as SVG, as tables and as a chart."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from playwright.sync_api import Page, expect

from db.comparisons import comparison
from db.direct_imports import ReadFile, store_read_files
from db.shares import make_link
from db.store import TraceStore
from db.traces import identify_trace, read_file
from db.views import JobView, ViewState
from profiles.results import Finding
from tests.app.charts.stored import store_job
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.browser.timelines import GUTTER, canvas_of, click, drag, longest_kernel, state_of
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs

pytestmark = [pytest.mark.browser, pytest.mark.services]

RECORDED = Path(__file__).parents[1] / "data" / "traces"
SVG = "{http://www.w3.org/2000/svg}"
GAPS = Finding(
    code="unexplained_gaps",
    message="213 gaps between GPU slices that nothing recorded explains",
    count=213,
    doubtful=("kernels", "kernel_sum_ns", "gpu_busy_ns", "idle"),
)
SWITCH = "As a table and chart"
FOLLOWS = """(line) => {
  const mark = line.querySelector('sup'), rest = document.createRange();
  rest.setStart(mark.nextSibling, 0);
  rest.setEnd(mark.nextSibling, 2);
  return rest.getClientRects()[0].left - mark.getBoundingClientRect().right;
}"""
GEMM = "#1A3490"
EVIL = 'fast & <b> "bold"'


@pytest.fixture(scope="module")
def ladder(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> JobView:
    directory = tmp_path_factory.mktemp("views")
    return store_job(fusescope.database, directory, [(WORKLOAD, ladder_runs())], environment=H200, name="Views")


@pytest.fixture(scope="module")
def imported(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A comparison of two recorded traces; that of the first puts its gaps in doubt."""
    directory = tmp_path_factory.mktemp("imported")
    files: list[Path] = []
    for recorded, name in (("cuda_naive.json.gz", "cuda_naive"), ("cuda_sdpa_flash.json.gz", EVIL)):
        path = directory / f"{name}.json.gz"
        read = read_file(RECORDED / recorded, tmp_path_factory.mktemp("read"))
        if not files:
            read = replace(read, summary=msgspec.structs.replace(read.summary, health=(GAPS,)))
        path.write_bytes(b"views: " + name.encode())
        files.append(ReadFile(path, read))
    return store_read_files(fusescope.database, TraceStore((directory / "traces").as_uri()), files).comparison_id


def test_the_view_is_saved_as_svg_with_the_colours_names_and_axis_of_the_canvas(
    page: Page, ladder: JobView, tmp_path: Path
) -> None:
    visit(page, f"/comparison?id={ladder.comparison_id}&t=0.00~2000.00%3Br=500.000~900.000")
    canvas_of(page)
    root = _saved_picture(page, tmp_path)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"naive", "nvjet 256×128", "1.0 ms", "stream 7", "Δ 400.0 µs"} <= set(texts)
    assert any(re.match(r"A: \d+ of 12 slices drawn$", text or "") for text in texts)
    assert all(float(text.attrib["textLength"]) > 0 for text in root.iter(f"{SVG}text"))
    rects = list(root.iter(f"{SVG}rect"))
    gemm = next(rect for rect in rects if rect.get("fill") == GEMM)
    scale = (int(root.attrib["width"]) - GUTTER) / 2_000
    assert float(gemm.attrib["x"]) == pytest.approx(GUTTER, abs=1)
    assert float(gemm.attrib["width"]) == pytest.approx(323.3 * scale, abs=2)
    hatched = {rect.attrib["fill"] for rect in rects if rect.get("fill", "").startswith("url(#hatch")}
    assert hatched <= {f"url(#{pattern.attrib['id']})" for pattern in root.iter(f"{SVG}pattern")}
    assert hatched


def test_by_keyboard_alone_the_view_is_had_as_tables_and_a_chart_that_follow_it(page: Page, ladder: JobView) -> None:
    visit(page, f"/comparison?id={ladder.comparison_id}&tv=A&tv=C")
    canvas = canvas_of(page)
    assert page.locator(".js-plotly-plot").count() == 0
    page.get_by_role("switch", name=SWITCH).or_(page.get_by_label(SWITCH)).first.focus()
    page.keyboard.press("Space")
    table = page.get_by_role("table", name="Kernels of naive in this view")
    expect(table.get_by_role("row")).to_have_count(1 + 6)
    expect(table.get_by_role("row").nth(1)).to_contain_text(re.compile(r"softmax.*1,463\.1"))
    expect(page.get_by_text("All 7 slices are drawn.")).to_be_visible()
    page.locator(".js-plotly-plot").wait_for()
    drag(page, canvas, GUTTER + 5, GUTTER + 300, shift=True)
    expect(table.get_by_role("row")).to_have_count(1 + 3)
    first, last = (ns / 1e3 for ns in sorted(state_of(page)["range"]))
    told = f"{first:,.1f} to {last:,.1f} µs: 3 slices within"
    expect(page.get_by_text(told)).to_be_visible()
    expect(page).to_have_url(re.compile("timeline-table=true"))
    visit(page, page.url)
    expect(page.get_by_text(told)).to_be_visible()
    described = page.get_by_role("figure", name=re.compile("a row for each stream, of A naive, C sdpa_auto"))
    expect(described).to_be_visible()


def test_a_slice_of_an_imported_trace_tells_its_operator_and_what_is_in_doubt_is_marked(
    page: Page, imported: int, tmp_path: Path
) -> None:
    visit(page, f"/comparison?id={imported}&timeline-table=true")
    canvas = canvas_of(page)
    expect(page.locator(".status")).to_contain_text(
        "▲ 213 gaps unexplained: calls, times, busy times and gaps doubtful"
    )
    click(page, canvas, *longest_kernel(page))
    about = page.locator(".about")
    expect(about).to_contain_text("cuda_naive · stream")
    expect(about).to_contain_text(re.compile(r"Operator\s*aten::"))
    texts = [text.text or "" for text in _saved_picture(page, tmp_path).iter(f"{SVG}text")]
    assert EVIL in texts
    assert any("▲ 213 gaps unexplained" in text for text in texts)
    drag(page, canvas, GUTTER + 5, GUTTER + 300, shift=True)
    section = page.locator(".below section")
    expect(section.first.locator("th .doubt")).to_have_text(["Calls", "Total µs", "Share"])
    expect(section.first.locator(".notes")).to_have_text(GAPS.message)
    expect(section.last.locator(".doubt")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"[?&]t=[^&]*r(=|%3D)"))
    settle(page)  # what is drawn anew for the range takes the place of what was there
    table = page.get_by_role("table", name="Kernels of cuda_naive in this view")
    expect(table.locator("th .fs-doubt")).to_have_text(["Calls", "µs"])
    busy = page.locator("p", has_text=re.compile("GPU 0: busy")).first
    assert busy.evaluate(FOLLOWS) > -1


def test_on_a_phone_the_tables_of_a_view_need_no_scrolling(new_page: Callable[..., Page], imported: int) -> None:
    page = new_page(viewport=PHONE)
    visit(page, f"/comparison?id={imported}&timeline-table=true")
    canvas_of(page)
    table = page.get_by_role("table", name="Kernels of cuda_naive in this view")
    expect(table).to_be_visible()
    settle(page)
    assert table.evaluate("(table) => table.parentElement.scrollWidth - table.parentElement.clientWidth") <= 0


def test_a_shared_link_shows_the_timelines_of_its_traces_as_they_were_left_and_no_others(
    new_page: Callable[..., Page], fusescope: Running, imported: int, ladder: JobView
) -> None:
    view = ViewState(lanes=("A", "B"), zoom="0.00~50.00;q=gemm")
    token, _ = make_link(fusescope.database, imported, view=view)
    page = new_page(viewport=PHONE)
    page.goto(f"/s/{token}")
    settle(page)
    canvas_of(page)
    state = state_of(page)
    assert (state["from"], state["to"], state["query"]) == (0, 50_000, "gemm")
    shown = [trace.trace_id for trace in comparison(fusescope.database, imported).traces]
    for trace_id in shown:
        assert page.request.get(f"/api/v1/traces/{trace_id}/timeline?token={token}").ok
    other = identify_trace(
        fusescope.database, run_id=comparison(fusescope.database, ladder.comparison_id).entries[0].run_id
    )
    assert other is not None
    assert page.request.get(f"/api/v1/traces/{other.trace_id}/timeline").ok
    assert page.request.get(f"/api/v1/traces/{other.trace_id}/timeline?token={token}").status == 404


def _saved_picture(page: Page, directory: Path) -> ElementTree.Element:
    page.locator(".timeline summary").click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="as SVG").click()
    page.locator(".timeline summary").click()
    assert saving.value.suggested_filename == "fusescope-timelines.svg"
    saving.value.save_as(directory / "view.svg")
    return ElementTree.parse(directory / "view.svg").getroot()  # noqa: S314 - our own picture
