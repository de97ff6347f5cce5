"""What is told of a trace beyond its figures: its device in History, its host behind a link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db.history import comparisons
from db.import_claims import claim_import, finish_import
from db.imports import Registered, take_upload
from db.session import Database
from db.shares import look_up_link, make_link
from db.store import TraceStore
from db.traces import read_file
from db.uploads import Upload

CALL = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 1}}
LAUNCH = {**CALL, "cat": "cuda_runtime", "name": "cudaLaunchKernel"}
OPERATOR = {**CALL, "cat": "cpu_op", "name": "aten::mm"}


@pytest.mark.parametrize(("events", "device"), [([OPERATOR], "cpu"), ([OPERATOR, LAUNCH], None)])
def test_a_trace_that_launches_on_a_gpu_is_of_no_cpu_even_where_the_gpus_records_are_lost(
    database: Database, tmp_path: Path, events: list[object], device: str | None
) -> None:
    imported(database, tmp_path, {"traceEvents": events})
    (line,) = comparisons(database).items
    assert (line.device, line.device_name) == (device, None)


@pytest.mark.parametrize("show_hosts", [False, True])
def test_a_link_tells_a_traces_host_only_where_it_shows_hosts(
    database: Database, tmp_path: Path, show_hosts: bool
) -> None:
    rank = {"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, "host_name": "bench-3.example"}
    shown = imported(database, tmp_path, {**rank, "traceEvents": [OPERATOR, LAUNCH]}).comparison_id
    assert shown is not None
    token, _ = make_link(database, shown, show_hosts=show_hosts)
    shared = look_up_link(database, token)
    assert shared is not None
    assert ("bench-3.example" in repr(shared.comparison)) is show_hosts


def imported(database: Database, folder: Path, content: dict[str, object]) -> Registered:
    path, store = folder / "trace.json", TraceStore((folder / "traces").as_uri())
    path.write_text(json.dumps(content))
    with Upload(folder, most_bytes=1 << 20) as upload:
        upload.add(path.read_bytes())
        registered = take_upload(database, store, upload, file_name=path.name)
    claim = claim_import(database, registered.import_id, worker="w", lease_s=20.0)
    assert claim is not None
    (folder / "parsed").mkdir()
    assert finish_import(database, store, claim, read_file(path, folder / "parsed"))
    return registered
