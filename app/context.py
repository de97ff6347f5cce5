"""What every page and route works with: settings, the database opened once per process, the reader's clock."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from db.session import Database, open_database
from db.settings import Settings, read_settings


@cache
def settings() -> Settings:
    return read_settings()


@cache
def database() -> Database:
    return open_database(settings().database_url)


def now() -> datetime:
    return datetime.now(UTC)


def zone() -> tzinfo:
    """The reader's time zone, as the browser told it; UTC where it did not."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
