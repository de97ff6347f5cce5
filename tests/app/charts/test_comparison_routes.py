"""The data routes: files of a comparison and timelines, open by id here and by token to exactly one comparison."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import context
from app.comparison.routes import comparison_routes, export_url
from app.timeline.routes import timeline_routes
from db.comparisons import comparison
from db.jobs import submit_job
from db.session import Database
from db.shares import links, make_link, revoke_link
from db.trace_comparisons import compare_traces
from db.traces import identify_trace
from db.views import ViewState
from profiles import presets
from profiles.reports import Compared
from tests.app.charts.stored import store_job
from tests.profiles.comparison.ladder import H200, WORKLOAD, ladder_runs
from tests.profiles.comparison.other import SWIGLU, swiglu_runs
from tests.profiles.comparison.walks import DECODE, churned_runs

HOME = "/".join(("", "home", "alice"))  # no file of the project spells out such a path


@dataclass(frozen=True)
class Site:
    """Two comparisons, of which `token` opens the first."""

    client: TestClient
    database: Database
    shared_id: int
    other_id: int
    token: str

    def run_ids(self, comparison_id: int) -> list[int]:
        return [e.run_id for e in comparison(self.database, comparison_id).entries if e.run_id is not None]


@pytest.fixture
def site(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("FUSESCOPE_STATE", str(tmp_path))
    monkeypatch.setenv("FUSESCOPE_DATABASE_URL", sqlite_database.url.render_as_string(hide_password=False))
    context.settings.cache_clear()
    context.database.cache_clear()
    first = store_job(sqlite_database, tmp_path, [(WORKLOAD, ladder_runs())], environment=H200)
    second = store_job(sqlite_database, tmp_path, [(SWIGLU, swiglu_runs())], environment=H200)
    token, _ = make_link(sqlite_database, first.comparison_id)
    with TestClient(Starlette(routes=[*timeline_routes, *comparison_routes])) as client:
        yield Site(client, sqlite_database, first.comparison_id, second.comparison_id, token)
    context.database().close()
    context.settings.cache_clear()
    context.database.cache_clear()


def test_timeline_is_binary_and_kept_by_the_browser_for_a_while(site: Site) -> None:
    answer = site.client.get(f"/api/v1/runs/{site.run_ids(site.shared_id)[0]}/timeline")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert b'"stream 7"' in answer.content
    assert answer.headers["content-encoding"] == "gzip"
    plain = site.client.get(answer.url, headers={"Accept-Encoding": "identity"})
    assert ("content-encoding" in plain.headers, plain.content) == (False, answer.content)


def test_every_visit_of_a_walk_is_a_spreadsheet_of_its_own(site: Site, tmp_path: Path) -> None:
    job = store_job(site.database, tmp_path, [(DECODE, churned_runs())], environment=H200)
    answer = site.client.get(f"/{export_url(job.comparison_id, 'visits.csv')}")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].endswith(f'-{job.comparison_id}.visits.csv"')
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(lines) == 7 * 64
    assert lines[0]["axis"] == "seq_kv"


def test_unknown_run_is_404(site: Site) -> None:
    assert site.client.get("/api/v1/runs/9999/timeline").status_code == 404


@pytest.mark.parametrize("number", ["0", "x", "²", "2147483648", "9" * 23])
def test_an_id_that_no_database_could_hold_is_404(site: Site, number: str) -> None:
    assert site.client.get(f"/api/v1/runs/{number}/timeline").status_code == 404
    assert site.client.get(f"/api/v1/comparisons/{number}/export.json").status_code == 404


def test_token_opens_the_timelines_of_its_comparison_and_of_no_other(site: Site) -> None:
    own, foreign = site.run_ids(site.shared_id)[0], site.run_ids(site.other_id)[0]
    assert site.client.get(f"/api/v1/runs/{own}/timeline?token={site.token}").status_code == 200
    assert site.client.get(f"/api/v1/runs/{foreign}/timeline?token={site.token}").status_code == 404
    assert site.client.get(f"/api/v1/runs/{own}/timeline?token=wrong").status_code == 404


@pytest.mark.parametrize("kind", ["?", "/slices.csv?", "/chrome.json?part=all&"])
def test_a_shared_timeline_tells_of_a_path_only_its_file(site: Site, tmp_path: Path, kind: str) -> None:
    first, *others = ladder_runs()
    kernel = msgspec.structs.replace(first.kernels[0], name=f"{HOME}/kernels/attention.py(7): attend")
    run = msgspec.structs.replace(first, kernels=(kernel, *first.kernels[1:]))
    workload = msgspec.structs.replace(WORKLOAD, seed=7)  # another trace
    job = store_job(site.database, tmp_path, [(workload, (run, *others))], environment=H200)
    token, _ = make_link(site.database, job.comparison_id)
    path = f"/api/v1/runs/{site.run_ids(job.comparison_id)[0]}/timeline{kind}"
    assert kernel.name.encode() in site.client.get(path).content
    shared = site.client.get(f"{path}token={token}").content
    assert b"alice" not in shared
    assert b"/attention.py(7): attend" in shared
    assert b"kernels/attention.py" not in shared


def test_shared_json_is_the_document_and_no_cache_keeps_it(site: Site) -> None:
    answer = site.client.get(f"/api/v1/shared/{site.token}/comparison.json")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    workload = answer.json()["workloads"][0]
    assert workload["answer"].startswith("sdpa_auto is 25.4× faster than naive")
    assert [row["variant"] for row in workload["rows"]][:2] == ["naive", "sdpa_auto"]
    assert set(answer.json()) == set(Compared.__struct_fields__)


def test_shared_files_of_two_links_have_a_baseline_each_of_their_own(site: Site) -> None:
    views = [ViewState(base="sdpa_flash"), ViewState(base="sdpa_math", by="call_time")]
    tokens = [make_link(site.database, site.shared_id, view=view)[0] for view in views]
    for token, view in zip(tokens, views, strict=True):
        sheet = csv.DictReader(io.StringIO(site.client.get(f"/api/v1/shared/{token}/comparison.csv").text))
        assert [line["variant"] for line in sheet if line["baseline"] == "True"] == [view.base]
        told = site.client.get(f"/api/v1/shared/{token}/comparison.json").json()
        assert f"faster than {view.base}" in told["workloads"][0]["answer"]


def test_revoked_link_opens_no_route(site: Site) -> None:
    revoke_link(site.database, links(site.database, site.shared_id)[0].id)
    own = site.run_ids(site.shared_id)[0]
    assert site.client.get(f"/api/v1/shared/{site.token}/comparison.json").status_code == 404
    assert site.client.get(f"/api/v1/shared/{site.token}/comparison.csv").status_code == 404
    assert site.client.get(f"/api/v1/runs/{own}/timeline?token={site.token}").status_code == 404


def test_shared_routes_give_no_bundle(site: Site) -> None:
    assert site.client.get(f"/api/v1/shared/{site.token}/comparison.fusescope").status_code == 404


def test_csv_has_one_line_per_variant_and_follows_the_baseline(site: Site) -> None:
    answer = site.client.get(f"/api/v1/comparisons/{site.shared_id}/export.csv?base=sdpa_flash")
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert lines[0]["variant"] == "sdpa_flash"
    assert lines[0]["baseline"] == "True"
    naive = next(line for line in lines if line["variant"] == "naive")
    assert (naive["kernels"], naive["memcpy"], naive["memset"]) == ("5", "1", "2")
    assert float(naive["gpu_time"]) == 4_531_500
    assert naive["tokens_per_s"] == ""
    assert answer.headers["content-disposition"] == 'attachment; filename="Attention-ladder-S-2048-1.csv"'


def test_the_address_of_an_export_keeps_a_baseline_of_any_name() -> None:
    assert export_url(7, "csv", base="a&by=b@compile", by="") == (
        "api/v1/comparisons/7/export.csv?base=a%26by%3Db%40compile"
    )


def test_unknown_comparison_and_kind_are_404_and_say_what_is_accepted(site: Site) -> None:
    assert "there is no comparison 99" in site.client.get("/api/v1/comparisons/99/export.json").text
    answer = site.client.get(f"/api/v1/comparisons/{site.shared_id}/export.xlsx")
    assert (answer.status_code, "expected 'json', 'csv' or 'fusescope'" in answer.text) == (404, True)


def test_a_bundle_of_nothing_measured_is_404_and_leaves_no_file(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    waiting = submit_job(site.database, presets.request("attention-ladder", device="cpu")).comparison_id
    answer = site.client.get(f"/api/v1/comparisons/{waiting}/export.fusescope")
    assert (answer.status_code, "nothing is measured" in answer.text) == (404, True)
    assert not list(tmp_path.glob("*.fusescope"))


def test_range_csv_and_chrome_json_of_a_run_are_answered_and_named(site: Site) -> None:
    path = f"/api/v1/runs/{site.run_ids(site.shared_id)[0]}/timeline"
    found = site.client.get(f"{path}/range?from=0&to=1000000000&part=all").json()
    assert sum(kernel["calls"] for kernel in found["kernels"]) == 18
    assert found["devices"][0]["device"] == 0
    listed = site.client.get(f"{path}/slices.csv")
    assert listed.headers["content-disposition"].endswith('.csv"')
    assert len(listed.text.splitlines()) == 1 + 12
    drawn = site.client.get(f"{path}/chrome.json").json()
    assert sum(event["ph"] == "X" for event in drawn["traceEvents"]) == 36


def test_a_window_of_a_timeline_is_merged_to_its_width(site: Site) -> None:
    path = f"/api/v1/runs/{site.run_ids(site.shared_id)[0]}/timeline"
    whole = site.client.get(f"{path}?from=0&to=100000000&width=1")
    assert whole.status_code == 200
    assert b'"merged":true,' in whole.content
    assert b'"in_view":12,' in whole.content


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("/range?from=5&to=5", "expected more than from"),
        ("/range?from=x&to=5", "from is 'x'"),
        ("/slices.csv?from=1", "to is ''"),
        (f"/range?from=0&to={'9' * 40}", "expected an integer"),
        ("?from=0&to=9&width=1000000", "width is"),
        ("?part=half", "part is 'half'; expected one of 'typical', 'all'"),
    ],
)
def test_an_impossible_window_is_400_and_says_what_is_accepted(site: Site, query: str, said: str) -> None:
    answer = site.client.get(f"/api/v1/runs/{site.run_ids(site.shared_id)[0]}/timeline{query}")
    assert (answer.status_code, said in answer.text) == (400, True), answer.text


@pytest.mark.parametrize("kind", ["range?from=0&to=9&", "slices.csv?", "chrome.json?"])
def test_token_opens_the_files_of_its_own_timelines_alone(site: Site, kind: str) -> None:
    own, foreign = site.run_ids(site.shared_id)[0], site.run_ids(site.other_id)[0]
    assert site.client.get(f"/api/v1/runs/{own}/timeline/{kind}token={site.token}").status_code == 200
    assert site.client.get(f"/api/v1/runs/{foreign}/timeline/{kind}token={site.token}").status_code == 404
    assert site.client.get(f"/api/v1/runs/{own}/timeline/{kind}token=wrong").status_code == 404


def test_a_trace_has_the_same_routes_as_the_run_that_it_is_of(site: Site) -> None:
    run_id = site.run_ids(site.shared_id)[0]
    trace = identify_trace(site.database, run_id=run_id)
    assert trace is not None
    of_run, of_trace = f"/api/v1/runs/{run_id}/timeline", f"/api/v1/traces/{trace.trace_id}/timeline"
    for ending in ("", "/range?from=0&to=1000000000", "/slices.csv", "/chrome.json"):
        found = site.client.get(f"{of_trace}{ending}")
        assert (found.status_code, found.content) == (200, site.client.get(f"{of_run}{ending}").content)
    named = site.client.get(f"{of_trace}/slices.csv").headers["content-disposition"]
    assert named == f'attachment; filename="fusescope-trace-{trace.trace_id}.csv"'


@pytest.mark.parametrize("number", ["9999", "0", "x", "9" * 30])
def test_no_trace_is_404_and_so_is_one_that_a_token_does_not_show(site: Site, number: str) -> None:
    assert site.client.get(f"/api/v1/traces/{number}/timeline").status_code == 404
    assert site.client.get(f"/api/v1/traces/1/timeline?token={site.token}").status_code == 404
    assert site.client.get("/api/v1/traces/1/timeline?token=wrong").status_code == 404


@pytest.mark.parametrize("ending", ["?", "/range?from=0&to=9&", "/slices.csv?", "/chrome.json?"])
def test_token_of_a_comparison_of_traces_opens_the_timelines_of_these_alone(site: Site, ending: str) -> None:
    own, other = site.run_ids(site.shared_id)[:2]
    token, link = make_link(site.database, compare_traces(site.database, [("run", own)]))
    shown, hidden = (identify_trace(site.database, run_id=run_id) for run_id in (own, other))
    assert shown is not None
    assert hidden is not None
    assert site.client.get(f"/api/v1/traces/{shown.trace_id}/timeline{ending}token={token}").status_code == 200
    assert site.client.get(f"/api/v1/traces/{hidden.trace_id}/timeline{ending}token={token}").status_code == 404
    revoke_link(site.database, link.id)
    assert site.client.get(f"/api/v1/traces/{shown.trace_id}/timeline{ending}token={token}").status_code == 404
