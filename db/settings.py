"""Where things are kept and how long, read once from the environment; what cannot work is refused by name."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

STATE = "FUSESCOPE_STATE"
DATABASE_URL = "FUSESCOPE_DATABASE_URL"
REDIS_URL = "FUSESCOPE_REDIS_URL"
TRACES_URL = "FUSESCOPE_TRACES_URL"
KEEP_RAW_DAYS = "FUSESCOPE_KEEP_RAW_DAYS"
MOST_DAYS = 36_500
SCHEMES = {
    DATABASE_URL: ("sqlite", "postgresql", "postgresql+psycopg"),
    REDIS_URL: ("redis", "rediss", "redis+socket", "unix"),
}


class SettingsError(ValueError):
    """A setting that cannot be used; the message says what is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`redis_url` is None where the embedded server is to be used, `keep_raw_days` where the raw files of traces are
    kept for ever."""

    state: Path
    database_url: str
    redis_url: str | None
    traces_url: str
    keep_raw_days: float | None = None


def read_settings(environ: Mapping[str, str] = os.environ, *, state: Path | None = None) -> Settings:
    """The settings of this process; `state`, from a command line, wins over the environment."""
    directory = (state or Path(_text(environ, STATE) or ".fusescope")).expanduser().absolute()
    return Settings(
        state=directory,
        database_url=_url(environ, DATABASE_URL) or f"sqlite:///{quote(str(directory / 'fusescope.db'))}",
        redis_url=_url(environ, REDIS_URL),
        traces_url=_text(environ, TRACES_URL) or f"file://{directory / 'traces'}",  # fsspec takes a path as it is
        keep_raw_days=_days(environ, KEEP_RAW_DAYS),
    )


def _text(environ: Mapping[str, str], name: str) -> str | None:
    """None where the variable is not set; set but empty is a slip, not a choice."""
    value = environ.get(name)
    if value is not None and not value.strip():
        raise SettingsError(f"{name} is set but empty; give it a value or unset it")
    return value


def _url(environ: Mapping[str, str], name: str) -> str | None:
    url = _text(environ, name)
    if url is not None and urlsplit(url).scheme not in SCHEMES[name]:
        accepted = ", ".join(f"'{scheme}://…'" for scheme in SCHEMES[name])
        raise SettingsError(f"{name} is {_without_password(url)!r}; expected one of {accepted}")
    return url


def _days(environ: Mapping[str, str], name: str) -> float | None:
    text = _text(environ, name)
    if text is None:
        return None
    try:
        days = float(text)
    except ValueError:
        days = math.nan
    if not 0 < days <= MOST_DAYS:
        raise SettingsError(
            f"{name} is {text[:40]!r}; expected a number of days above 0 and up to {MOST_DAYS:,}, such as 30 or 0.5; "
            "unset, raw traces are kept for ever"
        )
    return days


def _without_password(url: str) -> str:
    scheme, at, rest = url.rpartition("@")
    return f"…@{rest}" if at and scheme else url
