"""What History says of a trace's device where its records do not name one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db.history import comparisons
from db.import_claims import claim_import, finish_import
from db.imports import take_upload
from db.session import Database
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
    path, store = tmp_path / "trace.json", TraceStore((tmp_path / "traces").as_uri())
    path.write_text(json.dumps({"traceEvents": events}))
    with Upload(tmp_path, most_bytes=1 << 20) as upload:
        upload.add(path.read_bytes())
        registered = take_upload(database, store, upload, file_name=path.name)
    claim = claim_import(database, registered.import_id, worker="w", lease_s=20.0)
    assert claim is not None
    (tmp_path / "parsed").mkdir()
    assert finish_import(database, store, claim, read_file(path, tmp_path / "parsed"))
    (line,) = comparisons(database).items
    assert (line.device, line.device_name) == (device, None)
