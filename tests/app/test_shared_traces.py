"""What a link that shows no hosts tells of a hostile trace: no folder, account or machine, wherever it has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app import context
from app.timeline.shown import Part
from app.traces.readable import readable, side_by_side, told
from db.comparisons import comparison
from db.import_claims import claim_import, finish_import
from db.session import Database
from db.shares import look_up_link, make_link
from db.store import TraceStore
from db.traces import read_file
from db.views import ComparisonView
from profiles.comparison.traces.caveat import caveat
from profiles.comparison.traces.document import ComparedTraces

HOST, SHORT, USER, FOLDER = "node17.cluster.example", "node17", "mallory", "secretproject"
SECRETS = (SHORT, USER, FOLDER)
# No file of the project spells out such a path.
HOME = f"/{'home'}/{USER}"
LINES = (
    f"{HOME}/{FOLDER}/net.py(40): forward",
    f"/mnt/{USER}/my {FOLDER}/layers.py(7): call",
    f"/{FOLDER}/train.py(3): main",
    rf"D:\{FOLDER}\{USER}\windows.py(5): f",
    "transformers/models/bert.py(9): forward",
)
FILES = ("net.py(40): forward", "layers.py(7): call", "train.py(3): main", "windows.py(5): f", "bert.py(9): forward")


def _hostile(number: int) -> bytes:
    def event(category: str, name: str, start: int, duration: int, **args: Any) -> dict[str, Any]:
        return {
            **{"ph": "X", "cat": category, "name": name, "pid": 100, "tid": 1, "ts": start, "dur": duration},
            "args": args,
        }

    events = [event("user_annotation", "ProfilerStep#1", 0, 90_000)]
    for at, line in enumerate(LINES):
        start = 1_000 * at + 10
        events += [
            event("python_function", line, start, 500),
            event("python_function", f"nn.Module: {HOME}/{FOLDER}/Net_0", start + 1, 490),
            event("cpu_op", f"my::{SHORT} of /{FOLDER}/op", start + 2, 400),
            event("cuda_runtime", "cudaLaunchKernel", start + 5, 2, correlation=at),
            event("kernel", f"k{at} {HOME}/{FOLDER}/k.cu on {HOST}", start + 50, 5, device=0, stream=7, correlation=at),
        ]
    names = {"process_name": f"{HOME}/{FOLDER}/python", "thread_name": f"worker@{HOST} tcp://{SHORT}:29500"}
    events += [
        {"ph": "M", "name": name, "pid": 100, "tid": 0 if name == "process_name" else 1, "args": {"name": text}}
        for name, text in names.items()
    ]
    surroundings = {
        "deviceProperties": [{"id": 0, "name": f"GPU of {HOST}"}],
        "distributedInfo": {
            **{"backend": "nccl", "rank": number, "world_size": 2},
            "pg_config": [{"pg_name": f"tcp://{HOST}:1/{HOME}/x", "backend_config": f"cuda:{SHORT}", "pg_size": 2}],
        },
        "host_name": HOST,
        "schemaVersion": 1,
    }
    return json.dumps({**surroundings, "traceEvents": events}).encode()


@pytest.fixture
def shown(client: TestClient, web_database: Database, tmp_path: Path) -> int:
    """The number of a comparison of two traces."""
    found: dict[str, Any] = {}
    for number in (0, 1):
        content = _hostile(number)
        query = {"name": f"{HOST}_{number}12.1699999.pt.trace.json"} | (
            {"comparison": found["comparison_id"]} if found else {}
        )
        found = client.post("/api/v1/traces", params=query, content=content).json()
        held = claim_import(web_database, found["id"], worker="w1")
        assert held is not None
        path, directory = tmp_path / f"{number}.json", tmp_path / str(number)
        path.write_bytes(content)
        directory.mkdir()
        store = TraceStore(context.settings().traces_url)
        assert finish_import(web_database, store, held, read_file(path, directory))
    return int(found["comparison_id"])


def _secrets(text: str) -> list[str]:
    return [secret for secret in (*SECRETS, "/mnt", "D:\\\\", "D:\\") if secret in text]


def _page(view: ComparisonView) -> ComparedTraces:
    """What the page shows is made of: kept for whoever sees the same texts."""
    return told(side_by_side(readable(view.traces), None), None)


def test_a_link_without_hosts_tells_no_folder_account_or_machine(
    client: TestClient, web_database: Database, shown: int
) -> None:
    ours = comparison(web_database, shown)
    assert set(SECRETS) <= set(_secrets(repr(ours) + repr(_page(ours))))
    token, _ = make_link(web_database, shown)
    shared = look_up_link(web_database, token)
    assert shared is not None
    texts = {"view": repr(shared.comparison), "page": repr(_page(shared.comparison))}
    read = readable(shared.comparison.traces)
    texts["caveat"] = repr(caveat(read))
    for kind in ("json", "csv"):
        texts[kind] = client.get(f"/api/v1/shared/{token}/comparison.{kind}").text
    for trace in shared.comparison.traces:
        at = f"/api/v1/traces/{trace.trace_id}/timeline"
        for path in (at, f"{at}/slices.csv", f"{at}/chrome.json", f"{at}/range?from=0&to=100000"):
            for part in Part:
                joined = "&" if "?" in path else "?"
                answer = client.get(f"{path}{joined}token={token}&part={part}")
                texts[f"{path} {part}"] = answer.text if answer.status_code == 200 else f"status {answer.status_code}"
    assert {name: _secrets(text) for name, text in texts.items() if _secrets(text)} == {}
    assert not [name for name, text in texts.items() if text.startswith("status ")]
    sources = {line for trace in read if trace.contents for kernel in trace.contents.kernels for line in kernel.sources}
    assert {line.replace("\\", "/").rsplit("/", 1)[-1] for line in sources} == set(FILES)
    assert "transformers/models/bert.py(9): forward" in sources


def test_a_link_that_shows_hosts_tells_them(web_database: Database, shown: int) -> None:
    token, _ = make_link(web_database, shown, show_hosts=True)
    shared = look_up_link(web_database, token)
    assert shared is not None
    assert [trace.summary.rank.host for trace in shared.comparison.traces if trace.summary and trace.summary.rank] == (
        [HOST, HOST]
    )
    assert USER not in repr(_page(shared.comparison)).replace(f"my {FOLDER}", "")
