"""Heads, tables and waiting lines of comparisons of traces, from what the database shows."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import msgspec

from app.charts.doubts import Doubts
from app.traces.bars import bars_html
from app.traces.exports import traces_csv, traces_json
from app.traces.facts import head_html, size_text, state_badge
from app.traces.folding import MOST_ROWS, folding_html
from app.traces.ranks import ranks_html
from app.traces.readable import ReadTrace, readable, side_by_side, told
from app.traces.table import table_html
from app.traces.watch import refused_html, waiting_html
from db.views import ComparedTrace, ComparisonKind, ComparisonView, ImportedTrace, ImportFailure, ImportFailureKind
from db.views import ImportStatus as Status
from profiles.trace.contents import TraceContents
from tests.app.traces.written import GEMM, NORM, stepped, written
from tests.profiles.trace.conftest import Draft

NOW = datetime(2026, 11, 28, 14, 22, tzinfo=UTC)
MARKUP = "<b>\u202egz.nosj"


def _compared(read: ReadTrace | None, *, key: str, name: str = "a.json", status: Status = Status.DONE) -> ComparedTrace:
    failure = ImportFailure(kind=ImportFailureKind.UNREADABLE, message=f"no trace: {MARKUP}")
    refused = failure if status is Status.FAILED else None
    imported = ImportedTrace(
        id=1, name=name, file_name=name, sha256="0" * 64, size_bytes=445_000, status=status, attempt=1,
        failure=refused, trace_id=7, summary=read.summary if read else None, comparison_id=1, submitted_by=None,
        submitted_at=NOW, started_at=None, ended_at=None,
    )  # fmt: skip
    return ComparedTrace(
        key=key, label=name, imported=imported, run_id=None, variant=None, trace_id=7 if read else None,
        summary=read.summary if read else None, contents=read.contents if read else None, has_timeline=False,
        status=status, failure=refused,
    )  # fmt: skip


def _view(*traces: ComparedTrace, name: str = "Two machines") -> ComparisonView:
    return ComparisonView(
        id=3, name=name, created_at=NOW, created_by=None, job_id=None, status=None, entries=(),
        kind=ComparisonKind.TRACES, traces=traces,
    )  # fmt: skip


def _text(html: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))).strip()


def _ranked(tmp_path: Path, rank: int, *, duration: float) -> ReadTrace:
    draft: Draft = stepped([(GEMM, NORM)] * 3, duration=duration)
    draft.surroundings["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    draft.surroundings["host_name"] = f"secret-host-{rank}"
    return written(draft, tmp_path, key="AB"[rank], label=f"rank{rank}")


def test_the_head_tells_file_size_device_format_and_when(tmp_path: Path) -> None:
    read = written(stepped([(GEMM,)]), tmp_path)
    text = _text(head_html(_view(_compared(read, key="A")), zone=UTC))
    assert text == "History / 3 Two machines a.json 445 kB Test GPU Kineto JSON imported 28 Nov 2026, 14:22"
    assert size_text(3_858_078) == "3.9 MB"
    assert size_text(999) == "999 bytes"


def test_hostile_names_and_reasons_are_text_in_heads_and_states() -> None:
    failed = _compared(None, key="A", name=MARKUP, status=Status.FAILED)
    waiting = _compared(None, key="B", name=MARKUP, status=Status.QUEUED)
    html = head_html(_view(failed, name=MARKUP), zone=UTC) + refused_html(failed)
    html += waiting_html([waiting], has_worker=False)
    assert "<b>" not in html
    assert "\u202e" not in html
    assert "No trace: <b>\\u202egz.nosj." in _text(html)
    assert "no worker answers" in _text(html)
    assert "a worker reads it when it is free" in _text(waiting_html([waiting], has_worker=True))
    head = head_html(_view(waiting), zone=UTC)
    assert f"{head}{waiting_html([waiting], has_worker=True)}".count('class="fs-badge') == 1


def test_a_worker_that_failed_is_no_refusal_of_the_file() -> None:
    refused = _compared(None, key="A", status=Status.FAILED)
    lost = replace(refused, failure=ImportFailure(kind=ImportFailureKind.WORKER_LOST, message="the worker was lost"))
    assert "refused" in _text(state_badge(refused))
    assert "Accepted: Kineto" in _text(refused_html(refused))
    assert "failed" in _text(state_badge(lost))
    assert _text(refused_html(lost)) == "a.json could not be read. The worker was lost."


def test_the_table_has_every_trace_the_unread_ones_with_their_state(tmp_path: Path) -> None:
    one = written(stepped([(GEMM, NORM)] * 3), tmp_path)
    other = written(stepped([(GEMM,)] * 3, duration=20), tmp_path, key="B")
    found = told((one, other), "B")
    shown = [_compared(one, key="A"), _compared(other, key="B"), _compared(None, key="C", status=Status.FAILED)]
    text = _text(table_html(found, shown))
    assert text.index("B by hand") < text.index("A by hand") < text.index("C a.json refused")
    assert "1 0 0 1 20.0 baseline" in text
    assert "2 0 0 2 10.0 0.50×" in text
    assert bars_html(found.traces, base_key="B").count('class="fs-stack"') == 2


def test_the_table_counts_devices_of_one_name(tmp_path: Path) -> None:
    one, other = (written(stepped([(GEMM,)]), tmp_path, key=key) for key in "AB")
    named = msgspec.structs.replace(one.summary.devices[0], name="NVIDIA H100 <SXM>")
    pair = replace(one, summary=msgspec.structs.replace(one.summary, devices=(named, named)))
    shown = [_compared(pair, key="A"), _compared(other, key="B")]
    assert "A by hand 2 × H100 <SXM> 1" in _text(table_html(told((pair, other), "A"), shown))


def test_what_a_table_of_differences_leaves_out_is_told() -> None:
    rows = folding_html(
        "css", "", range(MOST_ROWS + 7), row=lambda number: f"<tr><td>{number}</td></tr>", doubts=Doubts()
    )
    assert rows.count("<tr>") == MOST_ROWS
    assert _text(rows).endswith("7 more in the JSON.")
    assert "in the JSON" not in folding_html("css", "", range(MOST_ROWS), row=str, doubts=Doubts())


def test_of_many_traces_the_baseline_is_always_compared(tmp_path: Path) -> None:
    read = written(stepped([(GEMM,)]), tmp_path)
    many = [ReadTrace(key, key, n, 0, read.summary, read.contents) for n, key in enumerate("ABCDEFGHIJ")]
    assert [trace.key for trace in side_by_side(many, "J")] == [*"ABCDEFG", "J"]
    assert told(side_by_side(many, "J"), "J").baseline == "J"


def test_a_comparison_kept_for_those_who_see_hosts_is_not_given_to_others(tmp_path: Path) -> None:
    seen = [_ranked(tmp_path, 0, duration=5), _ranked(tmp_path, 1, duration=9)]
    hosts = [read.contents.rank.host for read in seen if read.contents is not None and read.contents.rank is not None]
    assert len(set(hosts)) == 2
    named = tuple(readable(_compared(replace(read, trace_id=n), key=read.key) for n, read in enumerate(seen)))
    hidden = tuple(
        readable(
            _compared(replace(read, contents=_without_host(read), trace_id=n), key=read.key)
            for n, read in enumerate(seen)
        )
    )
    assert "secret-host-1" in ranks_html(told(named, None).jobs[0])
    assert "secret-host" not in ranks_html(told(hidden, None).jobs[0])


def test_files_hold_every_kernel_and_no_formula(tmp_path: Path) -> None:
    read = written(stepped([(GEMM, "=cmd|' /C calc'!A0")]), tmp_path)
    traces = [_compared(read, key="A"), _compared(read, key="B", name="b.json")]
    lines = traces_csv(traces).splitlines()
    assert len(lines) == 5
    assert any(line.startswith("A,a.json,'=cmd|") for line in lines)
    document = msgspec.json.decode(traces_json(traces, base_key="B"))
    assert document["compared"]["baseline"] == "B"
    assert document["traces"][0]["summary"]["kernels"] == 2


def _without_host(read: ReadTrace) -> TraceContents:
    assert read.contents is not None
    assert read.contents.rank is not None
    return msgspec.structs.replace(read.contents, rank=msgspec.structs.replace(read.contents.rank, host=None))
