"""Where a raw file is kept no longer, pages say so in its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from app.formatting import day
from db.bundles import import_bundle
from db.direct_imports import ReadFile, store_read_files
from db.models import TraceRow
from db.retention import remove_old_raw
from db.store import TraceStore
from db.traces import read_file
from tests.browser.conftest import Running, visit

pytestmark = [pytest.mark.browser, pytest.mark.services]

BUNDLE = next((Path(__file__).parents[2] / "samples").glob("*.fusescope"))
NAIVE = Path(__file__).parents[1] / "data" / "traces" / "cuda_naive.json.gz"


def _all_removed(fusescope: Running, store: TraceStore) -> str:
    with fusescope.database.begin() as session:
        session.execute(update(TraceRow).values(stored_at=datetime.now(UTC) - timedelta(days=31)))
    while remove_old_raw(fusescope.database, store, keep_days=30.0):
        pass
    return day(datetime.now(UTC))


def test_removed_files_are_told_where_their_buttons_were(page: Page, fusescope: Running, tmp_path: Path) -> None:
    store = TraceStore((fusescope.state / "traces").as_uri())
    shown = store_read_files(fusescope.database, store, [ReadFile(NAIVE, read_file(NAIVE, tmp_path))]).comparison_id
    (runs,) = import_bundle(fusescope.database, store, BUNDLE).comparison_ids
    visit(page, f"/comparison?id={shown}")
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("link", name="The file as it came")).to_be_visible()
    visit(page, f"/comparison?id={runs}")
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("link", name="Bundle, with traces")).to_be_visible()
    expect(page.get_by_text("The bundle is loss-free")).to_be_visible()
    today = _all_removed(fusescope, store)
    visit(page, f"/comparison?id={shown}")
    page.get_by_role("button", name="Export").click()
    told = f"The file as it came: removed on {today}, when this server kept raw traces for a limited time."
    expect(page.get_by_text(told)).to_be_visible()
    expect(page.get_by_role("link", name="The file as it came")).to_have_count(0)
    visit(page, f"/comparison?id={runs}")
    page.get_by_role("button", name="Export").click()
    expect(
        page.get_by_text("when this server kept raw traces for a limited time: there they have no timeline.")
    ).to_be_visible()
    expect(page.get_by_role("link", name="Bundle, without traces")).to_be_visible()
