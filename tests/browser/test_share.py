"""Sharing: from a job submitted by clicking to a link that opens its comparison for a stranger, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from db.comparisons import comparison
from db.shares import links, make_link
from db.views import JobView, ViewState
from tests.app.charts.stored import store_job
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs
from tests.profiles.comparison.other import SWIGLU, swiglu_runs

pytestmark = [pytest.mark.browser, pytest.mark.services]

MEASURED_WITHIN_MS = 150_000
NAVIGATION = "stTopNavLink"
ADDRESS = re.compile(r"https?://[^/]+/s/[\w-]{20,}$")


@pytest.fixture
def ladder(fusescope: Running, tmp_path: Path) -> JobView:
    return store_job(fusescope.database, tmp_path, [(WORKLOAD, ladder_runs())], environment=H200)


@pytest.mark.timeout(300)
def test_a_job_is_submitted_watched_compared_and_shared_with_a_stranger(
    page: Page, new_page: Callable[..., Page], fusescope: Running
) -> None:
    visit(page, "/new-job?preset=attention-ladder")
    page.get_by_role("textbox", name="Name", exact=True).fill("Ladder to share")
    page.get_by_role("button", name="Start job").click()
    expect(page).to_have_url(re.compile(r"/jobs"))
    page.get_by_role("link", name="Ladder to share").first.click(timeout=MEASURED_WITHIN_MS)
    expect(page).to_have_url(re.compile(r"/comparison\?id=\d+"))
    answer = page.locator(".fs-answer")
    told = re.compile("faster than naive|cannot be told apart")  # what a noisy machine measures is its own affair
    expect(answer).to_contain_text(told, timeout=MEASURED_WITHIN_MS)
    expect(page.locator("tr.pending")).to_have_count(0, timeout=MEASURED_WITHIN_MS)
    expect(page.locator("tr.refused")).to_have_count(2)
    settle(page)
    page.get_by_role("combobox", name="Baseline").click()
    page.get_by_role("option", name="sdpa_math", exact=True).click()
    expect(answer).to_contain_text(re.compile("faster than sdpa_math|cannot be told apart"))
    expect(page.get_by_test_id(NAVIGATION)).to_have_count(5)
    token = _make_link(page).rpartition("/")[2]

    stranger = new_page()
    stranger.goto(f"/s/{token}")
    expect(stranger.locator(".fs-answer")).to_have_text(answer.inner_text())
    expect(stranger.get_by_text("read-only link")).to_be_visible()
    stranger.locator("canvas[data-ready]").first.wait_for()
    _leads_nowhere_else(stranger, token)
    assert [link.opened for link in links(fusescope.database, _id(page))] == [1]


def test_link_opens_what_its_maker_saw_with_the_note_and_its_end(
    page: Page, new_page: Callable[..., Page], ladder: JobView
) -> None:
    visit(page, f"/comparison?id={ladder.comparison_id}&base=sdpa_flash&by=call_time&tv=A&tv=E&t=0.00~320.00")
    page.locator("canvas[data-ready]").first.wait_for()
    address = _make_link(page, note="Why I would still pin flash <b>for serving</b>.")
    stranger = new_page(dark=True)
    stranger.goto(address)
    expect(stranger.locator(".fs-note")).to_have_text("“Why I would still pin flash <b>for serving</b>.”")
    expect(stranger.locator(".fs-answer")).to_contain_text("1.73× faster than sdpa_flash")
    expect(stranger.get_by_text(re.compile(r"expires \d+ \w+ \d{4}"))).to_be_visible()
    stranger.locator("canvas[data-ready]").first.wait_for()
    label = stranger.locator("canvas[data-ready]").first.get_attribute("aria-label")
    assert label is not None
    assert "naive, sdpa_flash" in label or "sdpa_flash, naive" in label


def test_second_link_with_another_baseline_changes_neither_the_first_nor_the_comparison(
    page: Page, new_page: Callable[..., Page], fusescope: Running, ladder: JobView
) -> None:
    addresses = []
    for base in ("sdpa_flash", "sdpa_math"):
        visit(page, f"/comparison?id={ladder.comparison_id}&base={base}")
        expect(page.locator(".fs-answer")).to_contain_text(f"faster than {base}")
        addresses.append(_make_link(page))
    stranger = new_page()
    for base, address in zip(("sdpa_flash", "sdpa_math"), addresses, strict=True):
        stranger.goto(address)
        expect(stranger.locator(".fs-answer")).to_contain_text(f"faster than {base}")
    assert comparison(fusescope.database, ladder.comparison_id).view == ViewState()
    visit(page, f"/comparison?id={ladder.comparison_id}")
    expect(page.locator(".fs-answer")).to_contain_text("faster than naive")


def test_shared_page_on_a_phone_has_no_way_out_either(
    new_page: Callable[..., Page], fusescope: Running, ladder: JobView
) -> None:
    token, _ = make_link(fusescope.database, ladder.comparison_id)
    stranger = new_page(viewport=PHONE)
    stranger.goto(f"/s/{token}")
    expect(stranger.locator(".fs-answer")).to_be_visible()
    _leads_nowhere_else(stranger, token)
    assert stranger.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_token_opens_no_data_of_another_comparison(
    new_page: Callable[..., Page], fusescope: Running, ladder: JobView, tmp_path: Path
) -> None:
    other = store_job(fusescope.database, tmp_path, [(SWIGLU, swiglu_runs())], environment=H200, name="Secret pairs")
    token, _ = make_link(fusescope.database, ladder.comparison_id)
    own, foreign = (_a_run(fusescope, job) for job in (ladder, other))
    request = new_page().request
    assert request.get(f"/api/v1/runs/{own}/timeline?token={token}").ok
    assert request.get(f"/api/v1/runs/{foreign}/timeline?token={token}").status == 404
    assert "Secret pairs" not in request.get(f"/api/v1/shared/{token}/comparison.json").text()


def test_link_is_listed_without_its_token_and_revoked_in_two_steps(
    page: Page, new_page: Callable[..., Page], fusescope: Running, ladder: JobView
) -> None:
    visit(page, f"/comparison?id={ladder.comparison_id}")
    address = _make_link(page)
    token = address.rpartition("/")[2]
    stranger = new_page()
    stranger.goto(address)
    expect(stranger.locator(".fs-answer")).to_be_visible()

    visit(page, f"/comparison?id={ladder.comparison_id}")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text(f"…{token[-4:]} · made")).to_be_visible()
    expect(page.get_by_text("opened 1 time")).to_be_visible()
    assert token not in page.content()
    page.get_by_role("button", name="Revoke", exact=True).click()
    page.get_by_role("button", name="Keep it").click()
    assert stranger.request.get(address).ok
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("Whoever has the link loses the page at once.")).to_be_visible()
    page.get_by_role("button", name="Revoke now").click()
    expect(page.get_by_text("· revoked")).to_be_visible()

    gone = stranger.goto(address)
    assert gone is not None
    assert gone.status == 404
    expect(stranger.get_by_text("Ask its sender for a new one.")).to_be_visible()
    stranger.goto(f"/?token={token}")
    expect(stranger.get_by_text("This link does not exist or was revoked.")).to_be_visible()
    expect(stranger.locator(".fs-answer")).to_have_count(0)
    assert stranger.request.get(f"/api/v1/shared/{token}/comparison.json").status == 404
    assert links(fusescope.database, ladder.comparison_id)[0].revoked_at is not None


def test_a_token_on_another_pages_address_opens_what_it_opens_and_no_more(
    page: Page, fusescope: Running, ladder: JobView
) -> None:
    token, _ = make_link(fusescope.database, ladder.comparison_id)
    for path in ("jobs", "comparison"):
        visit(page, f"/{path}?token={token}")
        expect(page.get_by_text("read-only link")).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)
    visit(page, "/history?token=nobody-made-this-one")
    expect(page.get_by_role("heading", name="Nothing here")).to_be_visible()
    expect(page.get_by_test_id(NAVIGATION)).to_have_count(0)


def test_unknown_link_is_a_friendly_404(page: Page) -> None:
    answer = page.goto("/s/nothing-behind-this")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_text("Ask its sender for a new one.")).to_be_visible()


def _make_link(page: Page, *, note: str | None = None) -> str:
    """The address that the popover shows, once."""
    page.get_by_role("button", name="Share").click()
    if note is not None:
        page.get_by_role("textbox", name="Note for the reader").fill(note)
    page.get_by_role("button", name="Make a link").click()
    shown = page.get_by_test_id("stCode").locator("code")
    expect(shown).to_have_text(ADDRESS)
    expect(page.get_by_text("Copy it now: it is shown once.")).to_be_visible()
    return shown.inner_text()


def _leads_nowhere_else(page: Page, token: str) -> None:
    """No navigation, and no link but to this comparison's own files and places on the page."""
    expect(page.get_by_test_id(NAVIGATION)).to_have_count(0)
    for name in ("Share", "Export", "Rename"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    targets = [link.get_attribute("href") or "" for link in page.locator("a[href]").all()]
    own = re.compile(rf"#|.*/shared/{token}/|api/v1/runs/\d+/timeline/[a-z.]+\?token={token}$")
    outside = [target for target in targets if not own.match(target)]
    assert outside == []


def _id(page: Page) -> int:
    found = re.search(r"[?&]id=(\d+)", page.url)
    assert found is not None
    return int(found.group(1))


def _a_run(fusescope: Running, job: JobView) -> int:
    run_id = comparison(fusescope.database, job.comparison_id).entries[0].run_id
    assert run_id is not None
    return run_id
