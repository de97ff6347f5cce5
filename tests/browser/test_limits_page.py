"""Limits before a real browser: what the page's sanitiser lets through is all that a reader sees."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from playwright.sync_api import Page, expect

from db.ceilings import store_ceilings
from db.views import JobView
from profiles.results import DeepKernel, DeepProfile, Run
from tests.app.charts.stored import store_job
from tests.app.charts.test_limits import CEILINGS, costs_of
from tests.browser.conftest import Running, visit
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs

pytestmark = [pytest.mark.browser, pytest.mark.services]
KNOWN = msgspec.structs.replace(H200, driver="590.00")  # the other tests' device keeps its ceilings unknown


@pytest.fixture(scope="module")
def job(fusescope: Running, tmp_path_factory: pytest.TempPathFactory) -> JobView:
    store_ceilings(fusescope.database, KNOWN, CEILINGS)
    directory = tmp_path_factory.mktemp("limits")
    return store_job(fusescope.database, directory, [(WORKLOAD, _runs())], environment=KNOWN, name="Limits of a ladder")


def _runs() -> list[Run]:
    deep = DeepProfile(tool="ncu 2024.3.2", kernels=(DeepKernel(name="deep_kernel", duration_ns=96_416.0),))
    return [
        msgspec.structs.replace(
            run,
            costs=costs_of(run),
            deep=deep if run.variant == "naive" else None,
            kernels=tuple(msgspec.structs.replace(use, grid=(8, 12, 1), block=(384, 1, 1)) for use in run.kernels),
        )
        for run in ladder_runs()
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_the_roofline_is_drawn_within_its_frame_in_either_theme(
    new_page: Callable[..., Page], job: JobView, dark: bool
) -> None:
    page = new_page(dark=dark)
    visit(page, f"/comparison?id={job.comparison_id}")
    chart = page.locator(".fs-roofline")
    expect(chart).to_have_attribute("role", "img")
    expect(chart.locator("i.point")).to_have_count(len(ladder_runs()))
    expect(chart.locator("i.roof")).to_have_count(2)
    frame = chart.bounding_box()
    assert frame is not None
    for place in [*chart.locator("i.point").all(), *chart.locator("span.name").all()]:
        box = place.bounding_box()
        assert box is not None
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
        assert frame["y"] <= box["y"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_limits_launches_and_the_deep_profile_are_there_to_be_read(page: Page, job: JobView) -> None:
    visit(page, f"/comparison?id={job.comparison_id}")
    cell = page.locator(".fs-variants tbody tr", has_text="sdpa_cudnn").get_by_title("compute-bound: 68.0 GFLOP")
    expect(cell).to_contain_text("53 % compute-bound")
    expect(page.locator(".fs-limits tbody tr")).to_have_count(len(ladder_runs()))
    launch = page.locator(".fs-kernels.launches").get_by_title("grid 8×12×1, block 384×1×1").first
    expect(launch).to_have_text("96 × 384")
    fold = page.locator("details", has_text="Deep profile by ncu 2024.3.2")
    fold.locator("summary").click()
    expect(fold.locator("tbody tr")).to_contain_text("deep_kernel")
