"""Traces over HTTP: uploaded in pieces, refused early and in words, followed, compared, downloaded, deleted."""

from __future__ import annotations

import asyncio
import errno
import gzip
import socket
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from sqlalchemy import update
from starlette.testclient import TestClient

from app import context, uploads
from app.api.application import make_api
from app.formatting import day
from db.import_claims import claim_import, fail_import, finish_import
from db.models import TraceRow
from db.retention import remove_old_raw
from db.session import Database
from db.settings import KEEP_RAW_DAYS
from db.store import TraceStore, file_sha256
from db.traces import read_file
from db.views import ImportFailure, ImportFailureKind
from profiles.trace.limits import MAX_FILE_BYTES
from tests.processes import wait_until

RECORDED = Path(__file__).parents[1] / "data" / "traces"
NAIVE, FLASH = RECORDED / "cuda_naive.json.gz", RECORDED / "cuda_sdpa_flash.json.gz"


def upload(client: TestClient, content: bytes, **query: str | int) -> Any:
    return client.post("/api/v1/traces", params={"name": "a.json.gz", **query}, content=content)


def store() -> TraceStore:
    return TraceStore(context.settings().traces_url)


def read(db: Database, import_id: int, path: Path, directory: Path) -> None:
    held = claim_import(db, import_id, worker="w1")
    assert held is not None
    directory.mkdir()
    assert finish_import(db, store(), held, read_file(path, directory))


def fail(db: Database, import_id: int, kind: ImportFailureKind) -> None:
    held = claim_import(db, import_id, worker="w1")
    assert held is not None
    assert fail_import(db, store(), held, ImportFailure(kind=kind, message="no"))


def files(state: Path) -> list[str]:
    folders = (state / "traces", state / "uploads")
    return sorted(path.name for folder in folders for path in folder.rglob("*") if path.is_file())


def test_an_upload_is_followed_until_it_is_read_and_downloaded_as_it_came(
    client: TestClient, web_database: Database, tmp_path: Path
) -> None:
    answer = upload(client, NAIVE.read_bytes(), name="run 7/naïve\u202e.json.gz", label="Naive on a T4")
    assert answer.status_code == 202
    told = answer.json()
    assert (told["known"], told["status"], told["name"]) == (False, "queued", "Naive on a T4")
    assert (told["file_name"], told["sha256"]) == ("naïve.json.gz", file_sha256(NAIVE))
    at = f"/api/v1/traces/{told['id']}"
    assert client.get(f"{at}/raw").content == NAIVE.read_bytes()  # while it waits, too
    read(web_database, told["id"], NAIVE, tmp_path / "read")
    done = client.get(at).json()
    assert (done["status"], done["summary"]["kernels"] > 0) == ("done", True)
    assert done["comparison_id"] == told["comparison_id"]
    raw = client.get(f"{at}/raw")
    assert raw.content == NAIVE.read_bytes()
    assert raw.headers["content-disposition"] == (
        "attachment; filename=\"na-ve.json.gz\"; filename*=UTF-8''na%C3%AFve.json.gz"
    )
    shown = client.get(f"/api/v1/comparisons/{told['comparison_id']}").json()
    assert (shown["kind"], shown["entries"], len(shown["traces"])) == ("traces", [], 1)
    assert client.patch(at, json={"name": "Naive"}).json()["name"] == "Naive"
    assert client.get("/api/v1/traces", params={"search": "naive"}).json()["total"] == 1
    assert client.get("/api/v1/traces", params={"status": "queued"}).json() == {"items": [], "total": 0}
    assert client.get(f"/api/v1/comparisons/{told['comparison_id']}/export.fusescope").status_code == 404


def test_the_same_bytes_are_known_and_several_files_share_a_comparison(client: TestClient, tmp_path: Path) -> None:
    first = upload(client, NAIVE.read_bytes()).json()
    again = upload(client, NAIVE.read_bytes(), name="b.json.gz", comparison="none")
    assert (again.status_code, again.json()["known"], again.json()["id"]) == (200, True, first["id"])
    assert again.json()["comparison_id"] is None
    second = upload(client, FLASH.read_bytes(), name="b.json.gz", comparison=first["comparison_id"]).json()
    assert second["comparison_id"] == first["comparison_id"]
    assert len(files(tmp_path)) == 2
    traces = [{"kind": "import", "id": second["id"]}, {"kind": "import", "id": first["id"]}]
    made = client.post("/api/v1/traces/comparisons", json={"traces": traces})
    assert made.status_code == 201
    assert made.json()["name"] == "b and a"
    assert [trace["key"] for trace in made.json()["traces"]] == ["A", "B"]
    assert client.post("/api/v1/traces/comparisons", json={"traces": []}).status_code == 422
    unknown = client.post("/api/v1/traces/comparisons", json={"traces": [{"kind": "run", "id": 7}]})
    assert (unknown.status_code, unknown.json()) == (404, {"error": "there is no run 7"})
    assert upload(client, FLASH.read_bytes(), comparison=999).status_code == 404
    assert upload(client, FLASH.read_bytes(), comparison=0).status_code == 422


def test_a_raw_file_that_is_kept_no_longer_is_told_so_until_it_comes_again(
    client: TestClient, web_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEEP_RAW_DAYS, "0.5")
    context.settings.cache_clear()
    told = upload(client, NAIVE.read_bytes()).json()
    assert (told["raw_removed_at"], told["raw_returned"]) == (None, False)
    read(web_database, told["id"], NAIVE, tmp_path / "read")
    with web_database.begin() as session:
        session.execute(update(TraceRow).values(stored_at=datetime.now(UTC) - timedelta(days=0.6)))
    assert remove_old_raw(web_database, store(), keep_days=0.5) == 1
    at = f"/api/v1/traces/{told['id']}"
    raw = client.get(f"{at}/raw")
    assert raw.status_code == 410
    today = day(datetime.now(UTC))
    assert raw.json()["error"] == (
        f"the raw file of imported trace {told['id']} was removed on {today}, since this server keeps raw traces for"
        " 0.5 days; import the same file again to keep it anew"
    )
    removed_at = client.get(at).json()["raw_removed_at"]
    assert datetime.fromisoformat(removed_at) <= datetime.now(UTC)
    monkeypatch.delenv(KEEP_RAW_DAYS)
    context.settings.cache_clear()
    assert "when this server kept raw traces for a limited time" in client.get(f"{at}/raw").json()["error"]
    again = upload(client, NAIVE.read_bytes())
    assert (again.status_code, again.json()["known"], again.json()["raw_returned"]) == (200, True, True)
    assert client.get(at).json()["raw_removed_at"] is None
    assert client.get(f"{at}/raw").content == NAIVE.read_bytes()
    assert upload(client, NAIVE.read_bytes()).json()["raw_returned"] is False


@pytest.mark.parametrize(
    ("content", "name", "status", "reason"),
    [
        (b"", "a.json", 422, "the file is empty"),
        (gzip.compress(b"", mtime=0), "a.json.gz", 422, "the file is empty"),
        (b"PK\x03\x04 and so on", "a.zip", 415, "a zip archive"),
        (b"%PDF-1.7\n", "a.pdf", 415, "neither JSON nor SQLite"),
        (gzip.compress(b"\x7fELF" + bytes(100), mtime=0), "a.json.gz", 415, "an executable"),
        (b"\x00\x01\x02", "a.nsys-rep", 415, "nsys export --type sqlite"),
        (b"\x1f\x8b\xff\xff\xff\xff", "a.json.gz", 422, "broken gzip data"),
    ],
)
def test_what_can_be_no_trace_is_refused_at_once(  # noqa: PLR0917 - cases
    client: TestClient, tmp_path: Path, content: bytes, name: str, status: int, reason: str
) -> None:
    answer = upload(client, content, name=name)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(f"{name}: ")
    assert reason in answer.json()["error"]
    assert files(tmp_path) == []
    assert client.get("/api/v1/traces").json()["total"] == 0


def test_an_upload_past_the_limit_is_refused_by_its_length_and_by_what_comes(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_FILE_BYTES, "1000")
    content = NAIVE.read_bytes()
    for answer in (upload(client, content), upload(client, iter([content[:600], content[600:]]))):  # type: ignore[arg-type]
        assert answer.status_code == 413
        assert answer.json() == {"error": "a.json.gz: larger than the limit of 1,000 bytes for a trace file"}
    assert files(tmp_path) == []
    refused = client.post("/api/v1/traces", content=content[:900], headers={"content-encoding": "gzip"})
    assert refused.status_code == 415


def test_a_disk_that_fills_up_is_told_as_such_and_keeps_nothing(web_database: Database, tmp_path: Path) -> None:
    del web_database

    async def blocks() -> AsyncIterator[bytes]:
        yield NAIVE.read_bytes()
        raise OSError(errno.ENOSPC, "No space left on device")

    wanted = uploads.Wanted(file_name="a.json.gz", label=None, comparison_id=None, alone=True)
    with pytest.raises(uploads.DiskFull, match="disk is full"):
        asyncio.run(uploads.receive(blocks(), wanted))
    assert files(tmp_path) == []


def test_requests_of_other_sites_change_nothing(client: TestClient) -> None:
    foreign = {"origin": "https://elsewhere.example", "sec-fetch-site": "cross-site"}
    assert client.post("/api/v1/traces", content=NAIVE.read_bytes(), headers=foreign).status_code == 403
    assert client.delete("/api/v1/traces/1", headers=foreign).status_code == 403


def test_deleting_says_what_went_and_what_stays(client: TestClient, web_database: Database, tmp_path: Path) -> None:
    first = upload(client, NAIVE.read_bytes()).json()
    second = upload(client, FLASH.read_bytes(), comparison=first["comparison_id"]).json()
    read(web_database, first["id"], NAIVE, tmp_path / "read")
    kept = client.delete(f"/api/v1/traces/{first['id']}")
    assert (kept.status_code, "beside other traces" in kept.json()["error"]) == (409, True)
    gone = client.delete(f"/api/v1/traces/{first['id']}", params={"comparisons": True})
    assert gone.json() == {"import_id": first["id"], "comparison_ids": [first["comparison_id"]], "kept_for_runs": []}
    assert client.get(f"/api/v1/traces/{first['id']}").status_code == 404
    fail(web_database, second["id"], ImportFailureKind.INTERNAL)
    assert client.post(f"/api/v1/traces/{second['id']}/retry").json()["status"] == "queued"
    fail(web_database, second["id"], ImportFailureKind.UNREADABLE)
    assert client.post(f"/api/v1/traces/{second['id']}/retry").status_code == 409
    raw = client.get(f"/api/v1/traces/{second['id']}/raw")
    assert (raw.status_code, "was not kept" in raw.json()["error"]) == (404, True)
    assert files(tmp_path) == []


def test_a_browser_that_kept_a_timeline_hears_that_it_was_deleted_and_that_its_number_is_no_others(
    client: TestClient, web_database: Database, tmp_path: Path
) -> None:
    first = upload(client, NAIVE.read_bytes()).json()["id"]
    read(web_database, first, NAIVE, tmp_path / "first")
    at = f"/api/v1/traces/{client.get(f'/api/v1/traces/{first}').json()['trace_id']}/timeline"
    kept = client.get(at)
    again = {"if-none-match": kept.headers["etag"]}
    assert "no-cache" in kept.headers["cache-control"]
    assert (client.get(at, headers=again).status_code, client.get(at, headers=again).content) == (304, b"")
    client.delete(f"/api/v1/traces/{first}")
    assert client.get(at, headers=again).status_code == 404
    second = upload(client, FLASH.read_bytes()).json()["id"]
    read(web_database, second, FLASH, tmp_path / "second")
    assert client.get(f"/api/v1/traces/{second}").json()["trace_id"] is not None
    assert client.get(at).status_code == 404


def test_an_upload_that_breaks_off_leaves_nothing(web_database: Database, tmp_path: Path) -> None:
    del web_database
    with _served() as port, closing(socket.create_connection(("127.0.0.1", port))) as connection:
        content = NAIVE.read_bytes()
        head = f"POST /traces?name=a.json.gz HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n\r\n"
        connection.sendall(head.encode() + content[: len(content) // 2])
        assert wait_until(lambda: bool(files(tmp_path)), 10.0)
        connection.close()
        assert wait_until(lambda: not files(tmp_path), 10.0)
    with closing(sqlite3.connect(tmp_path / "fusescope.db")) as database:
        assert database.execute("SELECT count(*) FROM imported_trace").fetchone() == (0,)


def test_the_openapi_document_lists_the_routes(client: TestClient) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert {path: sorted(paths[path]) for path in paths if path.startswith("/traces")} == {
        "/traces": ["get", "post"],
        "/traces/comparisons": ["post"],
        "/traces/{import_id}": ["delete", "get", "patch"],
        "/traces/{import_id}/raw": ["get"],
        "/traces/{import_id}/retry": ["post"],
    }
    assert "application/octet-stream" in paths["/traces"]["post"]["requestBody"]["content"]


@contextmanager
def _served() -> Iterator[int]:
    """The API alone on a port of its own: the test client cannot break a connection off."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(make_api(), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        assert wait_until(lambda: server.started, 10.0)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()
