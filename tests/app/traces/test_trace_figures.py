"""The figures of traces' pages say what the files hold, mark what is in doubt, and show names as text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from app.charts.answer import answer_html
from app.traces.counts import counts_html
from app.traces.devices import devices_html, idle_html
from app.traces.difference import differing_html
from app.traces.doubt import Findings, reasons
from app.traces.kernels import kernels_html
from app.traces.matches import coverage_words, matches_html, operators_html
from app.traces.readable import ReadTrace
from app.traces.steps import steps_html
from profiles.comparison.traces.alone import alone, alone_caveat
from profiles.comparison.traces.answer import answer
from profiles.comparison.traces.difference import compare
from tests.app.traces.written import GEMM, NORM, public, stepped, written
from tests.profiles.trace.conftest import Draft

HOSTILE = ('<img src=x onerror="alert(1)">', "kernel\u202efdp.exe", "ker\x00nel\nsecond", "=cmd|' /C calc'!A0")


def _text(html: str) -> str:
    """What a reader sees, cell by cell."""
    cells = re.sub(r"<(?!/?(?:strong|b|small|code)\b)[^>]*>", " ", html)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", cells))).strip()


def _page(trace: ReadTrace) -> str:
    assert trace.contents is not None
    findings = Findings(trace.summary)
    doubtful = reasons(trace.summary, "kernels", "kernel_sum_ns")
    return "".join(
        (
            answer_html(alone(trace), alone_caveat(trace)),
            counts_html(trace.summary, trace.contents, findings),
            idle_html(trace.summary, findings),
            kernels_html(trace.contents, findings, reasons=doubtful),
            steps_html(trace.contents, findings),
            devices_html(trace.summary, findings),
            findings.notes(),
        )
    )


def test_one_trace_tells_counts_per_step_and_in_all(tmp_path: Path) -> None:
    html = _page(written(stepped([(GEMM, NORM, NORM)] * 3), tmp_path))
    text = _text(html)
    assert "3 kernels per step in 3 steps, 15.0 µs of kernel time each" in text
    assert "Kernels 3 9 100 %" in text
    assert "Launches 3 9" in text
    assert "aten::norm 2 6 30.0 66.7 % 5.0 5.0" in text
    assert 'class="fs-doubt"' not in html


def test_steps_that_differ_are_told_as_unstable_and_never_averaged(tmp_path: Path) -> None:
    html = _page(written(stepped([(GEMM, NORM), (GEMM, NORM), (GEMM,)]), tmp_path))
    text = _text(html)
    assert "1–2 kernels per step in 3 steps (in doubt), 5.0–10.0 µs of kernel time each" in text
    assert "Kernels 1–2 1 5" in text
    assert 'class="fs-doubt"' in html
    assert "different numbers of kernels: 2, 2, 1" in text


def test_a_mark_after_the_last_step_makes_the_answer_no_doubtful_one(tmp_path: Path) -> None:
    trace = written(stepped([(GEMM, NORM), (GEMM, NORM), ()]), tmp_path)
    assert alone(trace).text.startswith("2 kernels per step in 2 steps, 10.0 µs of kernel time each")
    assert alone_caveat(trace) is None
    assert "different numbers of kernels: 2, 2, 0" in Findings(trace.summary).notes()


def test_kernels_before_the_recording_are_in_all_and_in_no_step() -> None:
    text = _text(_page(public("17_h100")))
    assert "1,029 kernels in 1 step, 31.8 ms of kernel time" in text
    assert "Kernels 1,029 1,465 1 70 % , 436 from before the recording, by order" in text
    assert "in doubt: kernels in all, kernel time" in text


def test_lost_gpu_records_are_never_shown_as_none() -> None:
    html = _page(public("10_a100"))
    assert "No kernel count or GPU time can be told." in _text(html)
    assert 'title="Doubtful: 77 launches, but no GPU records at all' in html


def test_each_device_of_two_is_told_by_itself() -> None:
    html = devices_html(public("50_nsys").summary, Findings(public("50_nsys").summary))
    assert html.count("963 ms") == 2
    assert html.count("969 ms") == 2


def test_a_traces_hostile_names_are_text_on_every_figure(tmp_path: Path) -> None:
    trace = written(stepped([HOSTILE]), tmp_path, label=HOSTILE[0])
    other = written(stepped([HOSTILE[1:]]), tmp_path, key="B", label=HOSTILE[1])
    told = compare(trace, other)
    html = _page(trace) + differing_html(told) + matches_html(told) + operators_html(told)
    assert "<img" not in html
    assert "\u202e" not in html
    assert "\x00" not in html
    assert "kernel\\u202efdp.exe" in _text(html)


def test_added_and_vanished_kernels_are_named_the_largest_difference_first(tmp_path: Path) -> None:
    before = written(stepped([(GEMM, GEMM, NORM)]), tmp_path)
    after = written(stepped([(GEMM, GEMM, "fused_kernel")], duration=8), tmp_path, key="B")
    told = compare(before, after)
    text = _text(differing_html(told))
    assert "1 only in B, 1 only in A, 1 changed, by full name" in text
    assert text.index("aten::norm other only in B 0 1 0 8.0 +8.0") < text.index("only in A 1 0 5.0 0 −5.0")


def test_equal_traces_say_so_instead_of_an_empty_table(tmp_path: Path) -> None:
    trace = written(stepped([(GEMM, NORM)] * 2), tmp_path)
    assert "2 kernel names, all with equal calls and like times." in _text(differing_html(compare(trace, trace)))


def test_files_without_any_kernel_are_no_equal_ones(tmp_path: Path) -> None:
    draft = Draft()
    draft.operator("aten::mm", 1000, 8)
    first, second = (written(draft, tmp_path, key=key, label=f"file {key}") for key in "AB")
    text = _text(differing_html(compare(first, second)))
    assert "Neither file records a GPU kernel" in text
    assert "equal" not in text
    assert answer([first, second]).text == "The kernels of file A and file B cannot be told."


def test_kernels_of_two_vendors_are_matched_by_operator_with_their_coverage() -> None:
    told = compare(public("17_h100"), public("18_mi300x", key="B"))
    assert told.matching is not None
    covered = coverage_words(told.matching, "A", "B")
    assert covered.startswith("A: 1,029 of 1,029 kernels matched, 100 % of the time · B: ")
    text = _text(matches_html(told))
    assert covered in text
    assert "flash_fwd_kernel" in text
    assert "attn_fwd" in text
    assert "same operator at the same place" in text
    assert "aten::linear" in _text(operators_html(told))
