from contextlib import closing
from pathlib import Path

import pytest

from db.session import open_database
from db.settings import SettingsError, read_settings
from db.store import TraceStore


def test_without_any_setting_everything_is_in_one_directory() -> None:
    settings = read_settings({})
    assert settings.state == Path(".fusescope").absolute()
    assert settings.database_url == f"sqlite:///{settings.state}/fusescope.db"
    assert settings.traces_url == f"file://{settings.state}/traces"
    assert settings.redis_url is None
    assert settings.keep_raw_days is None


def test_a_directory_of_any_name_holds_everything(tmp_path: Path) -> None:
    settings = read_settings({}, state=tmp_path / "my räume" / "a?b#c%20d")
    settings.state.mkdir(parents=True)
    with closing(open_database(settings.database_url)) as db:
        db.upgrade()
    (tmp_path / "trace").write_bytes(b"trace")
    sha256 = TraceStore(settings.traces_url).put(tmp_path / "trace")
    assert (settings.state / "fusescope.db").exists()
    assert (settings.state / "traces" / sha256[:2] / f"{sha256}.json.gz").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"my räume", "trace"}


def test_the_command_line_s_directory_wins_over_the_environment_s(tmp_path: Path) -> None:
    assert read_settings({"FUSESCOPE_STATE": "/elsewhere"}, state=tmp_path).state == tmp_path
    assert read_settings({"FUSESCOPE_STATE": "/elsewhere"}).state == Path("/elsewhere")


def test_addresses_of_services_come_from_the_environment() -> None:
    settings = read_settings(
        {
            "FUSESCOPE_DATABASE_URL": "postgresql://fusescope@db/fusescope",
            "FUSESCOPE_REDIS_URL": "redis://queue:6379/0",
            "FUSESCOPE_TRACES_URL": "s3://bucket/traces",
        }
    )
    assert settings.database_url == "postgresql://fusescope@db/fusescope"
    assert settings.redis_url == "redis://queue:6379/0"
    assert settings.traces_url == "s3://bucket/traces"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("FUSESCOPE_DATABASE_URL", "mysql://db/x", "FUSESCOPE_DATABASE_URL is 'mysql://db/x'; expected one of 'sqlite"),
        ("FUSESCOPE_DATABASE_URL", "fusescope.db", "expected one of 'sqlite"),
        ("FUSESCOPE_REDIS_URL", "http://queue", "FUSESCOPE_REDIS_URL is 'http://queue'; expected one of 'redis"),
        ("FUSESCOPE_TRACES_URL", " ", "FUSESCOPE_TRACES_URL is set but empty"),
        ("FUSESCOPE_STATE", "", "FUSESCOPE_STATE is set but empty"),
        ("FUSESCOPE_KEEP_RAW_DAYS", "", "FUSESCOPE_KEEP_RAW_DAYS is set but empty"),
        *(
            ("FUSESCOPE_KEEP_RAW_DAYS", days, f"FUSESCOPE_KEEP_RAW_DAYS is '{days}'; expected a number of days above 0")
            for days in ("0", "-1", "nan", "inf", "1e9", "a week", "30 days")
        ),
    ],
)
def test_a_setting_that_cannot_work_is_refused_by_name(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_settings({name: value})


@pytest.mark.parametrize(("said", "days"), [("30", 30.0), ("0.5", 0.5), (" 7 ", 7.0), ("36500", 36_500.0)])
def test_raw_traces_are_kept_for_days_and_parts_of_them(said: str, days: float) -> None:
    assert read_settings({"FUSESCOPE_KEEP_RAW_DAYS": said}).keep_raw_days == days


def test_a_password_is_in_no_error() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"FUSESCOPE_DATABASE_URL": "mysql://me:secret@db/x"})
    assert "secret" not in str(caught.value)
