"""A run's text files: shown as text, by comparison and by share token, and nowhere that nobody was let in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import context
from app.comparison.artefacts import artefact_routes, artefact_url
from db.session import Database
from db.shares import links, make_link, revoke_link
from db.store import TraceStore
from profiles.compilation import Artefact
from tests.app.charts.stored import store_job
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs

HOME = "/".join(("", "home", "alice"))  # no file of the project spells out such a path
PATH = f"# kernel path: /tmp/torchinductor_alice/ab/cab.py and {HOME}/fusescope/work/compiled/own/cd/ccd.py\n"
SHOWN = "# kernel path: …/ab/cab.py and …/cd/ccd.py\n"
CODE = f"<script>alert('µs')</script>\n{PATH}@triton.jit\n".encode()
SHA256 = hashlib.sha256(CODE).hexdigest()
LOST = hashlib.sha256(b"a file that the store does not hold").hexdigest()


@dataclass(frozen=True)
class Site:
    """Entry A of comparison `shown` has two files, of which one is stored; `other` has no file."""

    client: TestClient
    database: Database
    shown: int
    other: int
    token: str


@pytest.fixture
def site(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("FUSESCOPE_STATE", str(tmp_path))
    monkeypatch.setenv("FUSESCOPE_DATABASE_URL", sqlite_database.url.render_as_string(hide_password=False))
    monkeypatch.setenv("FUSESCOPE_TRACES_URL", (tmp_path / "traces").as_uri())
    context.settings.cache_clear()
    context.database.cache_clear()
    path = tmp_path / SHA256
    path.write_bytes(CODE)
    TraceStore((tmp_path / "traces").as_uri()).put_artefact(path)
    artefacts = tuple(Artefact(name="output_code.py", sha256=sha, size_bytes=len(CODE)) for sha in (SHA256, LOST))
    first, *others = ladder_runs()
    runs = (msgspec.structs.replace(first, artefacts=artefacts), *others)
    shown = store_job(sqlite_database, tmp_path, [(WORKLOAD, runs)], environment=H200).comparison_id
    other = store_job(sqlite_database, tmp_path, [(WORKLOAD, ladder_runs())], environment=H200).comparison_id
    token, _ = make_link(sqlite_database, shown)
    with TestClient(Starlette(routes=artefact_routes)) as client:
        yield Site(client, sqlite_database, shown, other, token)
    context.database().close()
    context.settings.cache_clear()
    context.database.cache_clear()


def test_generated_code_is_plain_text_that_no_browser_takes_for_a_page(site: Site) -> None:
    answer = site.client.get(artefact_url(site.shown, "A", SHA256))
    assert answer.status_code == 200
    assert answer.content == CODE
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


def test_a_token_opens_the_files_of_its_comparison_without_the_account_until_it_is_revoked(site: Site) -> None:
    address = artefact_url(site.shown, "A", SHA256, token=site.token)
    assert str(site.shown) not in address.split("/")
    assert site.client.get(address).text == CODE.decode().replace(PATH, SHOWN)
    assert site.client.get(artefact_url(site.shown, "A", SHA256, token="wrong")).status_code == 404  # noqa: S106
    revoke_link(site.database, links(site.database, site.shown)[0].id)
    assert site.client.get(address).status_code == 404


def test_what_the_entry_does_not_name_or_the_store_does_not_hold_is_404(site: Site) -> None:
    for comparison_id, key, sha256 in (
        (site.shown, "B", SHA256),
        (site.shown, "Z", SHA256),
        (site.other, "A", SHA256),
        (999, "A", SHA256),
        (site.shown, "A", LOST),
        (site.shown, "A", "../../etc/passwd"),
        (site.shown, "A", "0" * 64),
    ):
        assert site.client.get(artefact_url(comparison_id, key, sha256)).status_code == 404, (comparison_id, key)
