"""The pages, driven as people drive them: a real server, worker and queue, a real browser."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from db import comparisons, jobs, runs, trials
from db.settings import read_settings
from db.views import JobStatus, TrialStatus
from profiles import presets
from profiles.job import JobRequest, TrialRequest
from profiles.plan import Plan
from profiles.results import Metric, Run, RunStatus
from profiles.workload import DType, Workload
from tests.browser.conftest import PHONE, Running, settle, visit
from tests.processes import wait_until
from workers import dispatch

pytestmark = [pytest.mark.browser, pytest.mark.services]

PAGES = ("/", "/new-job", "/jobs", "/history", "/workers")
SMALL = (
    "/new-job?preset=own&operation=residual_rms_norm&residual_rms_norm.rows=64&residual_rms_norm.width=64"
    "&residual_rms_norm.variant=unfused&residual_rms_norm.variant=functional"
)
MEASURED_WITHIN_MS = 90_000
PERSON_PAUSES_MS = 800  # before a step back; Streamlit may lose one that comes while it writes the address
BUSY_MS = 15_000  # other tests run beside these


def test_start_leads_from_a_question_to_a_filled_in_job(page: Page) -> None:
    visit(page, "/")
    for question in ("Which attention is fastest", "What did my fusion remove", "Does the gain survive"):
        expect(page.get_by_role("heading", name=question)).to_be_visible()
    page.get_by_role("link", name="Set up").nth(1).click()
    settle(page)
    expect(page).to_have_url(re.compile(r"/new-job\?preset=fusion-pairs$"))
    expect(page.get_by_role("textbox", name="hidden", exact=True)).to_have_value("1408")
    expect(page.get_by_text("fusescope submit fusion-pairs")).to_be_visible()


def test_start_shows_by_itself_what_has_come(page: Page, fusescope: Running) -> None:
    visit(page, "/")
    _measured(fusescope, "Came by itself")
    expect(page.get_by_role("row", name=re.compile("Came by itself.*done"))).to_be_visible(timeout=20_000)


def test_what_is_typed_into_the_form_stands_in_the_address_and_comes_back(page: Page) -> None:
    visit(page, "/new-job")
    _type(page, "seq_q", "512, 1024…1026")
    expect(_fact(page, "Trials")).to_have_text("4")
    assert "attention.seq_q=512" in page.url
    copied = page.url
    visit(page, "/workers")
    visit(page, copied)
    expect(page.get_by_role("textbox", name="seq_q", exact=True)).to_have_value("512, 1024…1026")
    expect(_fact(page, "Trials")).to_have_text("4")


def test_a_step_back_takes_back_what_was_typed_and_chosen(page: Page) -> None:
    visit(page, "/new-job")
    for seq in ("256", "128"):
        _type(page, "seq_q", seq)
        expect(page).to_have_url(re.compile(f"attention.seq_q={seq}"), timeout=BUSY_MS)
    _tick_row(page, 1)
    expect(page.get_by_text("6 of 7 chosen")).to_be_visible(timeout=BUSY_MS)
    expect(page).to_have_url(re.compile("attention.variant="), timeout=BUSY_MS)
    page.get_by_text("What did my fusion remove?").click()
    expect(page.get_by_role("textbox", name="hidden", exact=True)).to_be_visible(timeout=BUSY_MS)
    expect(page).to_have_url(re.compile(r"\?preset=fusion-pairs$"), timeout=BUSY_MS)
    for chosen, seq in (("6 of 7", "128"), ("7 of 7", "128"), ("7 of 7", "256"), ("7 of 7", "512")):
        page.wait_for_timeout(PERSON_PAUSES_MS)
        page.go_back()
        expect(page.get_by_role("textbox", name="seq_q", exact=True)).to_have_value(seq, timeout=BUSY_MS)
        expect(page.get_by_text(f"{chosen} chosen")).to_be_visible(timeout=BUSY_MS)
        settle(page)
    assert page.url.endswith("/new-job")


def test_an_axis_that_cannot_be_read_is_explained_and_nothing_can_be_started(page: Page) -> None:
    visit(page, "/new-job")
    _type(page, "heads", "many")
    expect(page.get_by_role("alert").first).to_contain_text("heads is 'many'")
    expect(page.get_by_role("button", name="Start job")).to_be_disabled()
    _type(page, "heads", "8")
    _type(page, "kv_heads", "3")
    expect(page.get_by_role("alert").first).to_contain_text("does not divide heads")


def test_a_job_is_submitted_by_keyboard_watched_and_ends_among_the_ended(page: Page, fusescope: Running) -> None:
    visit(page, SMALL)
    expect(page.get_by_role("button", name="Start job")).to_be_enabled()
    page.get_by_role("textbox", name="Name", exact=True).fill("Small norm")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"/jobs$"))
    card = page.get_by_test_id("stMainBlockContainer")
    expect(card).to_contain_text("Small norm")
    expect(page.get_by_role("row", name=re.compile("Small norm.*done"))).to_be_visible(timeout=MEASURED_WITHIN_MS)
    expect(page.get_by_role("progressbar")).to_have_count(0)
    ended = next(job for job in jobs.ended_jobs(fusescope.database).items if job.request.name == "Small norm")
    assert ended.status is JobStatus.DONE


def test_a_killed_childs_reason_stands_on_the_page_with_a_way_on(page: Page, fusescope: Running) -> None:
    job = _submit_slow(fusescope, "Doomed")
    visit(page, "/jobs")
    expect(page.get_by_text("Doomed").first).to_be_visible()
    assert wait_until(lambda: _is_timing(fusescope, job), 60), "the job did not start"
    for child in fusescope.children(running="profiles.measure"):
        child.send_signal(signal.SIGKILL)
    expect(page.get_by_text("crashed", exact=False).first).to_be_visible(timeout=MEASURED_WITHIN_MS)
    if jobs.job(fusescope.database, job).status is JobStatus.RUNNING:
        jobs.cancel_job(fusescope.database, job)
    raw = page.locator(".fs-raw", has_text="crashed").first
    expect(raw).to_be_visible(timeout=MEASURED_WITHIN_MS)
    assert "signal" in raw.inner_text() or "killed" in raw.inner_text().lower()
    page.get_by_role("link", name="Change").first.click()
    settle(page)
    expect(page).to_have_url(re.compile(r"/new-job\?"))


def test_a_running_job_is_cancelled_in_two_steps(page: Page, fusescope: Running) -> None:
    job = _submit_slow(fusescope, "Too long")
    assert wait_until(lambda: _is_timing(fusescope, job), 60), "the job did not start"
    visit(page, "/jobs")
    card = page.locator(f".st-key-job-{job}")
    card.get_by_role("button", name="Cancel", exact=True).click()
    card.get_by_role("button", name="Keep it").click()
    expect(card.get_by_role("button", name="Keep it")).to_have_count(0)
    assert not jobs.job(fusescope.database, job).trials[0].cancel_requested
    card.get_by_role("button", name="Cancel", exact=True).click()
    expect(card).to_contain_text("What is measured stays.")
    card.get_by_role("button", name="Cancel this job").click()
    retry = card.get_by_role("button", name="Retry")
    expect(retry).to_be_visible(timeout=20_000)
    expect(card).to_contain_text("Too long")
    assert wait_until(lambda: not fusescope.children(running="profiles.measure"), 5), "the measuring child lives on"
    retry.click()
    expect(card.get_by_role("button", name="Cancel", exact=True)).to_be_visible(timeout=20_000)
    jobs.cancel_job(fusescope.database, job)


def test_the_whole_plan_stands_in_the_address_and_in_the_command(page: Page) -> None:
    plan = "cache=in-context&builds=12&margin=0.7&load=sustained&energy=true"
    visit(page, f"/new-job?device=cuda&{plan}&walk.axis=seq_kv&walk.last=1039&walk.step=2")
    command = page.get_by_test_id("stCode")
    for words in ("--cache in-context", "--load sustained", "--builds 12", "--margin 0.7", "--energy"):
        expect(command).to_contain_text(words)
    expect(command).to_contain_text("--walk seq_kv=1039:2")
    expect(_fact(page, "Time")).to_contain_text("56 first visits")
    page.get_by_label("Last", exact=True).fill("600")
    page.get_by_label("Last", exact=True).press("Enter")
    expect(page.get_by_text("the walk's last seq_kv is 600, before its first, 1024.")).to_have_count(2)
    expect(page.get_by_role("button", name="Start job")).to_be_disabled()
    expect(page).to_have_url(re.compile(r"walk\.last=600"))


def test_a_job_that_no_worker_takes_says_so_and_waits(page: Page, fusescope: Running) -> None:
    visit(page, "/new-job?device=cuda")
    expect(page.get_by_text("No worker answers for")).to_be_visible()
    waiting = jobs.submit_job(fusescope.database, presets.request("fusion-pairs", device="cuda"))
    visit(page, "/jobs")
    expect(page.locator(f".st-key-queued-{waiting.id}")).to_contain_text("cuda: no worker")
    page.locator(f".st-key-queued-{waiting.id}").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel this job").click()
    expect(page.locator(f".st-key-queued-{waiting.id}")).to_have_count(0, timeout=15_000)
    assert jobs.job(fusescope.database, waiting.id).status is JobStatus.CANCELLED


def test_history_filters_by_its_address_and_says_when_nothing_matches(page: Page, fusescope: Running) -> None:
    _measured(fusescope, "Findable")
    visit(page, "/history?q=Findable")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    page.get_by_role("textbox", name="Search", exact=True).fill("zzz")
    page.keyboard.press("Enter")
    settle(page)
    expect(page).to_have_url(re.compile(r"q=zzz"))
    expect(page.get_by_text("Nothing matches zzz.")).to_be_visible()
    page.get_by_role("link", name="Clear filters").click()
    settle(page)
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def test_an_address_beyond_the_last_page_shows_the_last_one(page: Page, fusescope: Running) -> None:
    _measured(fusescope, "On the last page")
    for path in ("/history?page=99", "/history?list=Runs&page=99"):
        visit(page, path)
        expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    jobs.cancel_job(
        fusescope.database, jobs.submit_job(fusescope.database, presets.request("fusion-pairs", device="cpu")).id
    )
    visit(page, "/jobs?page=99")
    expect(page.get_by_role("heading", name="Ended")).to_be_visible()


def test_two_selected_comparisons_become_a_new_one(page: Page, fusescope: Running) -> None:
    for name in ("Left half", "Right half"):
        _measured(fusescope, name)
    visit(page, "/history?q=half")
    _tick_row(page, 1)
    _tick_row(page, 2)
    page.get_by_role("button", name="Compare 2 selected").click()
    expect(page).to_have_url(re.compile(r"/comparison\?id=\d+"))
    settle(page)
    made = comparisons.comparison(fusescope.database, int(re.findall(r"id=(\d+)", page.url)[0]))
    assert {entry.variant for entry in made.entries} == {"unfused", "functional"}
    assert len(made.entries) == 4
    page.go_back()
    expect(page).to_have_url(re.compile(r"/history\?q=half$"))
    expect(page.get_by_role("textbox", name="Search", exact=True)).to_have_value("half")


@pytest.mark.parametrize(("listed", "by"), [("Comparisons", 1), ("Runs", 2)])
def test_what_is_selected_outlives_a_turned_page_and_a_filter(
    page: Page, fusescope: Running, listed: str, by: int
) -> None:
    for number in range(16 // by):
        _measured(fusescope, f"Turned {listed} {number}")
    visit(page, f"/history?q=Turned {listed}&list={listed}")
    _tick_row(page, 2)
    _turn(page, "Next page")
    expect(page.get_by_text("1 of them not on this page")).to_be_visible()
    _tick_row(page, 1)
    expect(page.get_by_role("button", name="Compare 2 selected")).to_be_enabled()
    _turn(page, "Previous page")
    expect(page.get_by_role("button", name="Compare 2 selected")).to_be_enabled()
    _tick_row(page, 2)
    expect(page.get_by_role("button", name="Compare 2 selected")).to_have_count(0)
    _tick_row(page, 3)
    _search(page, "Turned nothing")
    _search(page, f"Turned {listed}")
    page.get_by_role("button", name="Compare 2 selected").click()
    expect(page).to_have_url(re.compile(r"/comparison\?id=\d+"))
    settle(page)
    made = comparisons.comparison(fusescope.database, int(re.findall(r"id=(\d+)", page.url)[0]))
    assert len(made.entries) == 2 * (2 // by)


def test_a_comparison_is_renamed_in_history(page: Page, fusescope: Running) -> None:
    _measured(fusescope, "Wrong name")
    visit(page, "/history?q=Wrong name")
    _tick_row(page, 1)
    page.get_by_role("button", name="Name", exact=True).click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Better name")
    page.get_by_role("button", name="Rename").click()
    settle(page)
    visit(page, "/history?q=Better name")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def test_workers_shows_what_each_device_measures(page: Page) -> None:
    visit(page, "/workers")
    expect(page.get_by_role("row").nth(1)).to_contain_text(re.compile("idle|measuring"))
    page.get_by_test_id("stExpander").first.click()
    row = page.get_by_role("row", name=re.compile("^Attention"))
    expect(row).to_contain_text("sdpa_flash")
    expect(row).to_contain_text("sdpa_cudnn needs a cuda device")


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_fits_a_phone_and_has_one_title(new_page: Callable[..., Page], path: str, dark: bool) -> None:
    page = new_page(viewport=PHONE, dark=dark)
    visit(page, path)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= PHONE["width"]
    expect(page.locator("h1")).to_have_count(1)


def test_a_deep_link_opens_its_page_and_back_returns(page: Page) -> None:
    visit(page, "/history")
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    page.get_by_test_id("stTopNavLink").get_by_text("Workers").click()
    expect(page.get_by_role("heading", name="Workers", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_start_opens_within_two_seconds_once_it_is_warm(new_page: Callable[..., Page]) -> None:
    """The best of a few: other tests run beside this one."""
    took: list[float] = []
    while len(took) < 8 and min(took, default=9.0) > 2.0:
        page = new_page()
        began = time.monotonic()
        page.goto("/")
        page.get_by_role("heading", name="Devices").wait_for()
        took.append(time.monotonic() - began)
    assert min(took) <= 2.0, f"took {[round(seconds, 2) for seconds in took]} s"


def _type(page: Page, axis: str, text: str) -> None:
    page.get_by_role("textbox", name=axis, exact=True).fill(text)
    page.keyboard.press("Enter")
    settle(page)


def _fact(page: Page, name: str) -> Locator:
    return page.locator(f"dt:text-is('{name}') + dd")


def _tick_row(page: Page, row: int) -> None:
    """Rows are drawn on a canvas: their checkboxes are found by place."""
    box = page.get_by_test_id("stDataFrame").locator("canvas").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 17, box["y"] + 35 * (row + 0.5))
    settle(page)


def _turn(page: Page, to: str) -> None:
    page.get_by_role("button", name=to).click()
    settle(page)


def _search(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Search", exact=True).fill(text)
    page.keyboard.press("Enter")
    settle(page)


def _norm(name: str, *, device: str, rows: int, plan: Plan) -> JobRequest:
    workload = Workload(operation="residual_rms_norm", dtype=DType.FP32, axes={"rows": rows, "width": 512})
    trial = TrialRequest(workload=workload, variants=("unfused", "functional"))
    return JobRequest(name=name, device=device, trials=(trial,), plan=plan)


def _submit_slow(fusescope: Running, name: str) -> int:
    """A job that is measured for a minute, unless somebody stops it; its id."""
    request = _norm(name, device="cpu", rows=8192, plan=Plan(samples=10_000, budget_s=60.0))
    job = jobs.submit_job(fusescope.database, request)
    assert dispatch.publish_job(read_settings({}, state=fusescope.state), job)
    return job.id


def _is_timing(fusescope: Running, job_id: int) -> bool:
    progress = jobs.job(fusescope.database, job_id).trials[0].progress
    return any(variant.current is not None for variant in progress)


def _measured(fusescope: Running, name: str) -> None:
    """A comparison as a GPU worker would leave it."""
    job = jobs.submit_job(fusescope.database, _norm(name, device="cuda:7", rows=64, plan=Plan()))
    trial = job.trials[0]
    attempt = trials.claim_trial(fusescope.database, trial.id, worker="elsewhere")
    assert attempt is not None
    owned = {"trial_id": trial.id, "worker": "elsewhere", "attempt": attempt}
    for time_ns, variant in ((200.0, "unfused"), (100.0, "functional")):
        metric = Metric(name="gpu_time", unit="ns", statistic="median", value=time_ns)
        run = Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(metric,))
        runs.store_run(fusescope.database, run=run, environment=None, **owned)
    trials.finish_trial(fusescope.database, status=TrialStatus.DONE, **owned)
