"""Health, shared links, and what every answer says about itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from streamlit import config

from app import context, hosts
from app.server import app
from db import jobs, shares
from db.session import Database
from profiles import presets


@pytest.fixture
def token(web_database: Database) -> str:
    job = jobs.submit_job(web_database, presets.request("attention-ladder", device="cpu"))
    return shares.make_link(web_database, job.comparison_id)[0]


def test_a_shared_link_leads_to_the_page_and_counts_an_opening(
    client: TestClient, web_database: Database, token: str
) -> None:
    answer = client.get(f"/s/{token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"../?token={token}"
    shared = shares.look_up_link(web_database, token)
    assert shared is not None
    assert shared.link.opened == 1


@pytest.mark.parametrize("guess", ["nothing", "a" * 3000, "ä", "<script>"])
def test_an_unknown_link_is_a_friendly_404(client: TestClient, guess: str) -> None:
    answer = client.get(f"/s/{guess}")
    assert answer.status_code == 404
    assert "This link does not exist or was revoked." in answer.text
    assert "<script>" not in answer.text


@pytest.mark.parametrize("path", ["/s/%00", "/s/..%2fhealthz"])
def test_a_token_is_no_way_to_other_paths(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 400


def test_a_revoked_and_an_expired_link_look_like_an_unknown_one(
    client: TestClient, web_database: Database, token: str
) -> None:
    shared = shares.look_up_link(web_database, token)
    assert shared is not None
    ended = context.now() - timedelta(minutes=1)
    expired, _ = shares.make_link(web_database, shared.comparison.id, expires_at=ended)
    shares.revoke_link(web_database, shared.link.id)
    unknown = client.get("/s/unknown").text
    assert [client.get(f"/s/{one}").text for one in (token, expired)] == [unknown, unknown]


@pytest.mark.parametrize("path", ["/s/{}", "/?token={}", "/jobs?token={}"])
def test_an_address_with_a_token_goes_nowhere_else(client: TestClient, token: str, path: str) -> None:
    headers = client.get(path.format(token)).headers
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-robots-tag"] == "noindex, nofollow"
    assert headers["cache-control"] == "no-store"


def test_other_sites_may_not_frame_our_pages(client: TestClient) -> None:
    headers = client.get("/healthz").headers
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_ready_means_that_the_database_has_this_versions_tables(client: TestClient, web_database: Database) -> None:
    assert client.get("/healthz").text == "ok\n"
    assert client.get("/readyz").status_code == 200
    web_database.downgrade("base")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.text.startswith("not ready: the database has tables of revision")


def test_ready_says_so_where_no_database_can_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSESCOPE_STATE", str(tmp_path))
    monkeypatch.setenv("FUSESCOPE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    context.settings.cache_clear()
    context.database.cache_clear()
    answer = TestClient(app, base_url="http://localhost").get("/readyz")
    assert (answer.status_code, answer.text[:11]) == (503, "not ready: ")
    context.settings.cache_clear()


@pytest.mark.usefixtures("web_database")
def test_a_server_on_loopback_answers_to_loopback_names_alone() -> None:
    before = config.get_option(hosts.OPTION)
    try:
        hosts.restrict_to("127.0.0.1")
        for known in ("localhost", "localhost:8501", "127.0.0.1:8501", "[::1]:8501"):
            assert TestClient(app, base_url=f"http://{known}").get("/healthz").status_code == 200
        for foreign in ("rebound.example", "127.0.0.1.evil.example:8501", "localhost.evil.example"):
            assert TestClient(app, base_url=f"http://{foreign}").get("/healthz").status_code == 400
    finally:
        config.set_option(hosts.OPTION, before)


def test_a_server_on_all_addresses_answers_to_every_name(client: TestClient) -> None:
    hosts.restrict_to("0.0.0.0")  # noqa: S104 - a name, nothing is bound
    assert client.get("/healthz", headers={"host": "fusescope.example"}).status_code == 200
