"""What people read where a raw file is kept no longer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.pages.trace_list import _what_happens
from app.raw_files import removed_because, removed_text
from db.session import Database
from db.views import ImportedTrace, ImportStatus

LATE = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
KEPT = ImportedTrace(
    id=1, name="a", file_name="a.json", sha256="0" * 64, size_bytes=1, status=ImportStatus.DONE, attempt=1,
    failure=None, trace_id=7, summary=None, comparison_id=1, submitted_by=None, submitted_at=LATE, started_at=LATE,
    ended_at=LATE,
)  # fmt: skip


@pytest.mark.parametrize(("days", "said"), [(30.0, "30 days"), (1.0, "1 day"), (0.5, "0.5 days")])
def test_the_setting_is_the_reason(days: float, said: str) -> None:
    assert removed_because(days) == f"since this server keeps raw traces for {said}"


def test_a_setting_that_is_gone_is_not_made_up() -> None:
    assert removed_because(None) == "when this server kept raw traces for a limited time"


def test_the_day_is_the_readers() -> None:
    assert removed_text(LATE, keep_days=30.0).startswith("removed on 30 Nov 2026, since")
    assert removed_text(LATE, keep_days=30.0, zone=ZoneInfo("Asia/Tokyo")).startswith("removed on 1 Dec 2026, since")


def test_the_list_of_traces_says_it_in_place_of_the_button(web_database: Database) -> None:
    del web_database
    assert not _what_happens([KEPT], [])
    said = _what_happens([replace(KEPT, raw_removed_at=LATE)], [])
    assert said == "raw file removed on 30 Nov 2026, when this server kept raw traces for a limited time"
