"""`fusescope compare` of trace files, and what a continuous integration gets from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import main


def write_trace(path: Path, kernels: Sequence[str], *, steps: int = 2, **surroundings: Any) -> str:
    """Each step launches these kernels, 5 µs each, from an operator of their own."""
    events: list[dict[str, Any]] = []
    correlation = 0

    def add(category: str, name: str, start: int, duration: int, **fields: Any) -> None:
        event = {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "pid": 1, "tid": 1}
        events.append(event | fields)

    for step in range(steps):
        add("user_annotation", f"ProfilerStep#{step}", 10_000 * step, 9_000)
        for place, kernel in enumerate(kernels):
            correlation += 1
            start = 10_000 * step + 100 * place + 10
            add("cpu_op", "aten::linear" if "gemm" in kernel else "aten::gelu", start - 5, 50)
            add("cuda_runtime", "cudaLaunchKernel", start, 2, args={"correlation": correlation})
            where = {"correlation": correlation, "device": 0, "stream": 7}
            add("kernel", kernel, start + 20, 5, pid=0, tid=7, args=where)
    document = {"deviceProperties": [{"id": 0, "name": "Test GPU"}], "traceEvents": events}
    path.write_text(json.dumps(document | surroundings))
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    before = write_trace(tmp_path / "main.json", ["gemm_a", "gelu_kernel", "gelu_kernel"])
    return before, write_trace(tmp_path / "pull_request.json", ["gemm_b", "gelu_kernel"])


@pytest.fixture
def folder(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the pair lies, and where the commands run."""
    found = Path(pair[0]).parent
    monkeypatch.chdir(found)
    return found


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["compare", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_two_traces_are_compared_as_text(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, *pair)
    assert (code, err) == (0, "")
    assert "pull_request.json runs 2 kernels per step where main.json runs 3" in out
    assert "1 kernel vanished, 1 is new and 1 kernel changed in calls" in out
    assert "One recording each: Ratios of times are facts of these recordings, no verdict." in out
    lines = [line.split() for line in out.splitlines()]
    assert ["gelu_kernel", "pointwise", "changed", "2", "1", "10.0", "µs", "5.0", "µs", "−5.0", "µs"] in [
        line[:11] for line in lines
    ]
    assert any(line[:4] == ["aten::linear", "1", "gemm_a", "gemm_b"] for line in lines)


def test_as_json_every_number_is_there(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, *pair, "--json", "--baseline", "B")
    told = json.loads(out)
    assert (code, told["baseline"], told["failed_on"]) == (0, "B", [])
    assert [trace["source"] for trace in told["traces"]] == list(pair)
    (difference,) = told["differences"]
    assert {kernel["name"]: kernel["change"] for kernel in difference["kernels"]} == {
        "gemm_a": "added",
        "gemm_b": "vanished",
        "gelu_kernel": "changed",
    }
    assert said(capsys, *pair, "--json", "--baseline", "pull_request.json")[1] == out


def test_a_ci_fails_where_kernels_per_step_changed(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, *pair, "--fail-on", "added,calls")
    assert code == 1
    assert "main.json" in out  # the comparison is printed all the same
    assert err.splitlines() == [
        "fusescope: failed on B: added, per step: gemm_b (1×)",
        "fusescope: failed on B: calls, per step: gelu_kernel (2 → 1)",
    ]
    code, out, _ = said(capsys, *pair, "--json", "--fail-on", "kernels")
    assert (code, json.loads(out)["failed_on"]) == (1, ["B: kernels: 3 → 2 per step"])
    assert said(capsys, *pair, "--fail-on", "more-kernels")[0] == 0  # a fusion was gained
    assert said(capsys, *reversed(pair), "--fail-on", "more-kernels")[0] == 1  # and here lost
    assert said(capsys, pair[0], pair[0], "--fail-on", "added,vanished,calls,kernels,launches")[0] == 0


def test_what_cannot_be_judged_does_not_pass(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unmarked = write_trace(tmp_path / "unmarked.json", [], steps=0)
    code, _, err = said(capsys, pair[0], unmarked, "--fail-on", "added")
    why = "kernels per step are not known of B: no steps are marked in it"
    assert (code, err) == (2, f"fusescope: --fail-on cannot be judged: {why}\n")
    code, out, _ = said(capsys, pair[0], unmarked, "--fail-on", "added", "--json")
    assert (code, json.loads(out)["not_judged"]) == (2, why)


def test_ranks_of_one_job_are_shown_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        write_trace(
            tmp_path / f"rank{rank}.json",
            ["gemm_a", "ncclDevKernel_AllReduce"],
            distributedInfo={"rank": rank, "world_size": 4, "backend": "nccl"},
            baseTimeNanoseconds=1_764_417_600 * 10**9,
        )
        for rank in (0, 2)
    ]
    out = said(capsys, *paths)[1]
    assert "ranks 0 and 2 of 4, nccl (the same world size and backend, recorded at the same time); 2 missing" in out
    code = main(["trace", paths[1]])
    assert code == 0
    assert "rank 2 of 4, nccl" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("others", "options", "said_so"),
    [
        (["7"], [], "is a trace, 7 is the id of a stored comparison: traces compare with traces"),
        (["bundle.fusescope"], [], "bundle.fusescope is a bundle"),
        ([], [], "1 trace; expected 2 to 8 to compare"),
        (["main.json"] * 8, [], "9 traces; expected 2 to 8 to compare"),
        (["broken.json"], [], "broken.json: "),
        (["nowhere.json"], [], "No such file or directory: nowhere.json"),
        (["main.json"], ["--baseline", "C"], "no trace 'C' here; expected one of A (main.json), B (main.json)"),
        (["main.json"], ["--by", "call_time"], "--by chooses among the times of measured runs"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_is_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str], others: list[str], options: list[str], said_so: str
) -> None:
    (folder / "bundle.fusescope").write_bytes(b"PK\x03\x04")
    (folder / "broken.json").write_text('{"traceEvents": [')
    code, out, err = said(capsys, "main.json", *others, *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said_so in err


def test_fail_on_is_for_traces_and_knows_its_words(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *pair, "--fail-on", "added,slower"])
    assert ended.value.code == 2
    assert "unknown 'slower'; expected any of added, vanished, calls" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["compare", *pair, "--fail-on", ""])  # a variable that is not set
    assert ended.value.code == 2
    assert "names nothing to fail on; expected any of added" in capsys.readouterr().err
    (tmp_path / "bundle.fusescope").write_bytes(b"PK\x03\x04")
    code, _, err = said(capsys, str(tmp_path / "bundle.fusescope"), "--fail-on", "added")
    assert (code, err) == (2, "fusescope: --fail-on is for traces; measured runs have verdicts\n")
