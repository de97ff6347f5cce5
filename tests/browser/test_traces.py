"""Traces from elsewhere: chosen on a page, sent, read by a worker, looked at, compared, shared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from db.comparisons import comparison
from db.direct_imports import ReadFile, store_read_files
from db.shares import make_link
from db.store import TraceStore
from db.traces import read_file
from db.views import ComparisonView
from tests.app.traces.written import GEMM, NORM, stepped
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.profiles.trace.conftest import Draft

pytestmark = [pytest.mark.browser, pytest.mark.services]

READ_WITHIN_MS = 60_000  # other tests run beside these
HOSTILE = '<img src=x onerror="document.title=1">\u202efdp.exe'
ONE_TRACE = re.compile(r"/comparison\?id=(\d+)")


def test_a_chosen_file_is_sent_read_and_opens_as_a_page(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "decoder.json"
    path.write_text(stepped([(GEMM, NORM, HOSTILE)] * 3).text())
    visit(page, "/")
    _choose(page, path)
    expect(page).to_have_url(ONE_TRACE, timeout=READ_WITHIN_MS)
    expect(page.locator(".fs-answer")).to_contain_text("3 kernels per step in 3 steps, 15.0 µs of kernel time each")
    expect(page.get_by_role("heading", name="decoder")).to_be_visible()
    expect(page.locator(".fs-counts tbody tr").first).to_have_text(re.compile("Kernels\\s*3\\s*9\\s*100 %"))
    page.locator("canvas[data-ready]").wait_for()
    told = page.locator("table.fs-seen").first.text_content() or ""
    assert '<img src=x onerror="document.title=1">\\u202efdp.exe' in told
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "1"
    visit(page, "/history?list=Traces&q=rms_norm_kernel")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    visit(page, "/history?list=Traces&q=no_such_kernel")
    expect(page.get_by_text("Nothing matches")).to_be_visible()


def test_two_files_become_one_comparison_whose_baseline_and_link_hold(
    page: Page, new_page: Callable[..., Page], fusescope: Running, tmp_path: Path
) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(stepped([(GEMM, NORM, NORM)] * 2).text())
    after.write_text(stepped([(GEMM, "fused_norm_kernel")] * 2, duration=7).text())
    visit(page, "/history?list=Traces")
    if not page.locator(".pick").is_visible():
        page.get_by_text("Import traces").click()
    _choose(page, before, after)
    expect(page).to_have_url(ONE_TRACE, timeout=READ_WITHIN_MS)
    answer = page.locator(".fs-answer")
    expect(answer).to_contain_text("after runs 2 kernels per step where before runs 3")
    expect(page.locator(".fs-differing tr", has_text="fused_norm_kernel")).to_contain_text("only in B")
    settle(page)
    page.get_by_role("combobox", name="Baseline").click()
    page.get_by_role("option", name="B after").click()
    expect(answer).to_contain_text("before runs 3 kernels per step where after runs 2")
    expect(page).to_have_url(re.compile("base=B"))
    page.locator("canvas[data-ready]").first.wait_for()

    shown = comparison(fusescope.database, _id(page))
    token, _ = make_link(fusescope.database, shown.id)
    stranger = new_page(viewport=PHONE)
    stranger.goto(f"/s/{token}")
    expect(stranger.locator(".fs-answer")).to_contain_text("after runs 2 kernels per step where before runs 3")
    stranger.locator("canvas[data-ready]").first.wait_for()
    for name in ("Share", "Export", "Rename"):
        expect(stranger.get_by_role("button", name=name)).to_have_count(0)
    assert stranger.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    other = _stored(fusescope, tmp_path, {"other": stepped([(GEMM,)])})
    _opens_its_own_alone(stranger, token, *(found.traces[0].trace_id for found in (shown, other)))


def test_a_file_that_is_no_trace_is_refused_with_the_reason_and_the_rest_is_offered(page: Page, tmp_path: Path) -> None:
    wrong, right = tmp_path / "notes.json", tmp_path / "right.json"
    wrong.write_text('{"notes": [1, 2, 3]}')
    right.write_text(stepped([(NORM,)]).text())
    visit(page, "/")
    _choose(page, wrong, right)
    row = page.locator(".files li", has_text="notes.json")
    expect(row).to_contain_text("traceEvents", timeout=READ_WITHIN_MS)
    offered = page.get_by_role("link", name="Open the trace")
    expect(offered).to_be_visible(timeout=READ_WITHIN_MS)
    offered.click()
    expect(page.locator(".fs-answer").first).to_contain_text("1 kernel in 1 step", timeout=READ_WITHIN_MS)


def _choose(page: Page, *paths: Path) -> None:
    page.locator(".import input[type=file]").set_input_files(list(paths))


def _id(page: Page) -> int:
    found = ONE_TRACE.search(page.url)
    assert found is not None
    return int(found.group(1))


def _stored(fusescope: Running, directory: Path, drafts: Mapping[str, Draft]) -> ComparisonView:
    """A comparison of these traces, past the pages."""
    files = []
    for name, draft in drafts.items():
        path = directory / f"{name}.json"
        path.write_text(draft.text())
        (directory / name).mkdir()
        files.append(ReadFile(path, read_file(path, directory / name)))
    made = store_read_files(fusescope.database, TraceStore((directory / "traces").as_uri()), files)
    return comparison(fusescope.database, made.comparison_id)


def _opens_its_own_alone(page: Page, token: str, own: int | None, other: int | None) -> None:
    """The token opens this comparison's files and timelines, no raw file and no other trace."""
    told = page.request.get(f"/api/v1/shared/{token}/comparison.json").json()
    assert [trace["label"] for trace in told["traces"]] == ["before", "after"]
    assert "fused_norm_kernel" in page.request.get(f"/api/v1/shared/{token}/comparison.csv").text()
    assert page.request.get(f"/api/v1/traces/{own}/timeline?token={token}").ok
    assert page.request.get(f"/api/v1/traces/{other}/timeline").ok
    assert page.request.get(f"/api/v1/traces/{other}/timeline?token={token}").status == 404
    targets = [link.get_attribute("href") or "" for link in page.locator("a[href]").all()]
    assert not [target for target in targets if "/raw" in target]


def test_files_without_any_kernel_stand_side_by_side(page: Page, fusescope: Running, tmp_path: Path) -> None:
    drafts = {name: Draft() for name in ("host", "only")}
    for name, draft in drafts.items():
        draft.operator(f"aten::{name}", 1000, 8)
    visit(page, f"/comparison?id={_stored(fusescope, tmp_path, drafts).id}")
    expect(page.locator(".fs-answer")).to_have_text("The kernels of host and only cannot be told.")
    expect(page.get_by_text("No GPU kernel is recorded in this file.")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
