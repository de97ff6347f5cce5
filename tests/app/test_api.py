"""The HTTP API, on the real application and a real database."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from db import jobs, runs, trials
from db.session import Database
from db.views import TrialStatus
from profiles import presets
from profiles.results import Run, RunStatus

JSON = {"content-type": "application/json"}


def _submit(client: TestClient, **changes: object) -> Any:
    request = json.loads(msgspec.json.encode(presets.request("attention-ladder", device="cpu")))
    return client.post("/api/v1/jobs", content=json.dumps(request | changes), headers=JSON)


def _measure(db: Database, job_id: int) -> None:
    for trial in jobs.job(db, job_id).trials:
        attempt = trials.claim_trial(db, trial.id, worker="here/cpu")
        assert attempt is not None
        for variant in trial.variants:
            run = Run(variant=variant, status=RunStatus.SUCCEEDED)
            runs.store_run(db, trial_id=trial.id, worker="here/cpu", attempt=attempt, run=run, environment=None)
        trials.finish_trial(db, trial.id, worker="here/cpu", attempt=attempt, status=TrialStatus.DONE)


def test_a_submitted_job_is_stored_and_listed_although_no_broker_answers(client: TestClient) -> None:
    answer = _submit(client, name="from the API")
    assert answer.status_code == 201
    listed = client.get("/api/v1/jobs").json()
    assert [(job["id"], job["request"]["name"]) for job in listed["items"]] == [(answer.json()["id"], "from the API")]


def test_a_job_that_no_device_can_measure_is_refused_with_the_reason(client: TestClient) -> None:
    answer = _submit(client, device="tpu")
    assert answer.status_code == 422
    assert answer.json() == {"error": "unknown device class 'tpu'; expected 'cpu', 'cuda' or 'cuda:N'"}


def test_an_unknown_preset_is_refused_with_those_there_are(client: TestClient) -> None:
    answer = _submit(client, preset="attention-lader")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(
        "unknown preset 'attention-lader'; expected one of 'attention-ladder', 'fusion-pairs'"
    )
    assert _submit(client, preset=None).status_code == 201


def test_the_whole_plan_is_taken_and_comes_back(client: TestClient) -> None:
    plan = {"cache": "in-context", "order": "isolated", "load": "sustained", "builds": 12, "margin": 0.01}
    plan |= {"budget_s": 45.0, "samples": 40, "steps": 2, "energy": True, "deep": True}
    plan |= {"walk": {"axis": "seq_kv", "last": 600, "step": 4}}
    assert _submit(client, plan=plan).json()["request"]["plan"] == plan


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"builds": 1}, "builds is 1; accepted are 2 to 1,000"),
        ({"margin": 0.5}, "margin is 0.5; accepted are shares above 0, up to 0.1"),
        ({"cache": "lukewarm"}, "Invalid enum value 'lukewarm' - at `$.plan.cache`"),
        ({"walk": {"axis": "causal", "last": 9}}, "the walk's axis is 'causal'; attention can walk one of 'batch'"),
        ({"walk": {"axis": "seq_kv", "last": 9, "step": 0}}, "the walk's step is 0"),
        ({"walks": {"axis": "seq_kv", "last": 900}}, "unknown field `walks` - at `$.plan`; expected `cache`"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_with_the_reason(client: TestClient, plan: object, reason: str) -> None:
    answer = _submit(client, plan=plan)
    assert answer.status_code == 422
    assert reason in answer.json()["error"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": 3}', '{"name": "x"}', "\xff"])
def test_a_body_that_is_no_job_is_refused(client: TestClient, content: str) -> None:
    answer = client.post("/api/v1/jobs", content=content, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("the body cannot be read: ")


def test_a_body_that_is_too_large_is_refused_before_it_is_read_whole(client: TestClient) -> None:
    answer = client.post("/api/v1/jobs", content=b" " * (1 << 20) + b" {}", headers=JSON)
    assert answer.status_code == 413


def test_a_form_of_another_site_cannot_submit(client: TestClient) -> None:
    assert client.post("/api/v1/jobs", data={"name": "x"}).status_code == 415


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
    ],
)
def test_requests_from_other_sites_change_nothing(client: TestClient, headers: dict[str, str]) -> None:
    job_id = _submit(client).json()["id"]
    refused = client.post(f"/api/v1/jobs/{job_id}/cancel", headers=headers)
    assert refused.status_code == 403
    assert client.get(f"/api/v1/jobs/{job_id}").json()["status"] == "queued"


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "same-origin"}, {"origin": "http://localhost"}])
def test_our_own_pages_and_plain_clients_may_cancel(client: TestClient, headers: dict[str, str]) -> None:
    job_id = _submit(client).json()["id"]
    assert client.post(f"/api/v1/jobs/{job_id}/cancel", headers=headers).json()["status"] == "cancelled"


def test_an_ended_job_cannot_be_cancelled_but_tried_again(client: TestClient) -> None:
    job_id = _submit(client).json()["id"]
    client.post(f"/api/v1/jobs/{job_id}/cancel")
    assert client.post(f"/api/v1/jobs/{job_id}/cancel").status_code == 409
    assert client.post(f"/api/v1/jobs/{job_id}/retry").json()["status"] == "queued"


@pytest.mark.parametrize("path", ["jobs/7", "comparisons/7", "runs/7"])
def test_what_does_not_exist_is_404_with_words(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 404
    assert "7" in answer.json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "jobs/0",
        "jobs/x",
        f"jobs/{2**63}",
        "jobs?limit=1000",
        "jobs?offset=-1",
        "jobs?state=lost",
        "runs?limit=0",
        "runs?search=%00",
    ],
)
def test_parameters_out_of_bounds_are_refused(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 422
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "accepted"),
    [
        (
            "GET",
            "runs?limit=3&oparation=attention",
            "'search', 'operation', 'device_name', 'status', 'since'",
        ),
        ("POST", "traces?name=a.json&comparision=12", "expected 'name', 'label', 'comparison'"),
        ("DELETE", "traces/1?with_comparisons=true", "expected 'comparisons'"),
        ("GET", "traces/1/raw?token=x", "there are none here"),
    ],
)
def test_a_query_parameter_that_nobody_reads_is_refused(
    client: TestClient, method: str, path: str, accepted: str
) -> None:
    answer = client.request(method, f"/api/v1/{path}", content=b'{"traceEvents": []}')
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("unknown query parameter '")
    assert accepted in answer.json()["error"]


def test_runs_become_a_comparison_that_can_be_named(client: TestClient, web_database: Database) -> None:
    _measure(web_database, _submit(client).json()["id"])
    listed = client.get("/api/v1/runs", params={"operation": "attention", "limit": 3}).json()
    assert listed["total"] == 7
    chosen = [run["id"] for run in listed["items"]]
    made = client.post("/api/v1/comparisons", json={"run_ids": chosen, "name": "Three"})
    assert made.status_code == 201
    assert [entry["run_id"] for entry in made.json()["entries"]] == chosen
    renamed = client.patch(f"/api/v1/comparisons/{made.json()['id']}", json={"name": "Another name"})
    assert renamed.json()["name"] == "Another name"
    found = client.get("/api/v1/comparisons", params={"search": "another"}).json()
    assert [comparison["id"] for comparison in found["items"]] == [made.json()["id"]]
    assert client.get(f"/api/v1/runs/{chosen[0]}").json()["status"] == "succeeded"


@pytest.mark.parametrize("body", [{"run_ids": [], "name": "x"}, {"run_ids": [0], "name": "x"}, {"run_ids": [1]}])
def test_a_comparison_of_nothing_is_refused(client: TestClient, body: dict[str, object]) -> None:
    assert client.post("/api/v1/comparisons", json=body).status_code == 422


def test_the_catalogue_says_what_no_worker_can_measure(client: TestClient) -> None:
    catalogue = client.get("/api/v1/catalogue").json()
    assert catalogue["operations"][0]["name"] == "attention"
    assert not any(one["available"] for operation in catalogue["operations"] for one in operation["implementations"])
    assert client.get("/api/v1/workers").json() == []


def test_the_openapi_document_describes_every_route_and_resolves(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert {"/jobs", "/jobs/{job_id}", "/comparisons", "/runs", "/catalogue", "/workers"} <= document["paths"].keys()
    known = document["components"]["schemas"].keys()
    assert {ref.rsplit("/", 1)[1] for ref in _refs(document)} <= known
    assert document["paths"]["/jobs"]["post"]["requestBody"]["content"]["application/json"]["schema"]


def _refs(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {str(value["$ref"])} if "$ref" in value else set()
        return own.union(*map(_refs, value.values()))
    return set().union(*map(_refs, value)) if isinstance(value, list) else set()
