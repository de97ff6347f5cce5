"""Scripts of runs: by comparison and by share token, and offered on the page for whatever was measured."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import context
from app.charts.reproduce import reproduce_html
from app.comparison.reproduce import reproduce_routes, script_url
from db.comparisons import comparison
from db.jobs import submit_job
from db.session import Database
from db.shares import links, make_link, revoke_link
from profiles import presets
from tests.app.charts.stored import store_job
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs


@pytest.fixture
def client(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("FUSESCOPE_DATABASE_URL", sqlite_database.url.render_as_string(hide_password=False))
    context.settings.cache_clear()
    context.database.cache_clear()
    with TestClient(Starlette(routes=reproduce_routes)) as opened:
        yield opened
    context.database().close()
    context.settings.cache_clear()
    context.database.cache_clear()


@pytest.fixture
def stored(sqlite_database: Database, tmp_path: Path) -> int:
    return store_job(sqlite_database, tmp_path, [(WORKLOAD, ladder_runs())], environment=H200).comparison_id


def test_every_run_of_a_comparison_is_a_python_file(client: TestClient, stored: int, sqlite_database: Database) -> None:
    for entry in comparison(sqlite_database, stored).entries:
        answer = client.get(script_url(stored, entry.key))
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/x-python; charset=utf-8"
        assert f"attention/{entry.variant}, " in (ast.get_docstring(ast.parse(answer.text)) or "")
    naive = client.get(script_url(stored, "A"))
    assert naive.headers["content-disposition"] == (
        'attachment; filename="attention_naive_B8_H16_S2048_D64_causal_bf16.py"'
    )


def test_a_token_opens_the_scripts_of_its_comparison_until_it_is_revoked(
    client: TestClient, stored: int, sqlite_database: Database
) -> None:
    token, _ = make_link(sqlite_database, stored)
    address = script_url(stored, "A", token=token)
    assert "comparisons" not in address
    assert client.get(address).text == client.get(script_url(stored, "A")).text
    assert client.get(script_url(stored, "A", token=token[:-1])).status_code == 404
    revoke_link(sqlite_database, links(sqlite_database, stored)[0].id)
    assert client.get(address).status_code == 404


@pytest.mark.parametrize(("comparison_id", "key"), [(0, "A"), (99, "A"), (1, "Z"), (1, "a")])
def test_what_does_not_exist_is_404(client: TestClient, stored: int, comparison_id: int, key: str) -> None:
    assert stored == 1
    assert client.get(script_url(comparison_id, key)).status_code == 404


def test_what_is_not_measured_yet_has_no_script(client: TestClient, sqlite_database: Database) -> None:
    waiting = submit_job(sqlite_database, presets.request("attention-ladder", device="cpu")).comparison_id
    answer = client.get(script_url(waiting, "A"))
    assert (answer.status_code, "not measured" in answer.text) == (404, True)
    entries = comparison(sqlite_database, waiting).entries
    assert reproduce_html(entries, base_key="A", url=str) == ""


def test_the_page_offers_each_run_under_the_name_that_its_script_has(
    client: TestClient, stored: int, sqlite_database: Database
) -> None:
    entries = comparison(sqlite_database, stored).entries
    html = reproduce_html(entries, base_key="A", url=lambda key: script_url(stored, key))
    offered = re.findall(r'<a href="([^"]+)" download="([^"]+)">', html)
    assert len(offered) == len(entries)
    for address, name in offered:
        assert f'filename="{name}"' in client.get(address).headers["content-disposition"]
