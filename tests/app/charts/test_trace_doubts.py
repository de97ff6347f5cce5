"""What a trace puts in doubt is marked wherever it stands: table, ledger, kernels, spreadsheet and text."""

from __future__ import annotations

import csv
import io

import msgspec

from app.charts.health import health_html
from app.charts.kernels import kernels_html
from app.charts.ledger import ledger_html
from app.charts.table import table_html
from app.commands.variant_table import described
from app.comparison.spreadsheet import comparison_csv
from profiles.comparison.entry import entries_of
from profiles.comparison.figures import MICROSECONDS
from profiles.comparison.ledger import ledger
from profiles.comparison.speed import By
from profiles.comparison.table import rows
from profiles.recorded import Attribution, GapCause, Idle, KernelCauses, Recorded
from profiles.results import Finding, Run
from tests.profiles.comparison.ladder import ladder_runs, results

WHY = "2 launches without a slice"
LOST = Finding(code="launches_without_slices", message=WHY, count=2, doubtful=("counts.kernels", "traced_device_time"))
INFORMATION = Finding(code="stream_overlap", message="1 GPU slice began early", count=1)
MARK = f'class="fs-doubt" title="Doubtful: {WHY}"'
RECORDED = Recorded(
    span_ns=178_000,
    idle=(
        Idle(cause=GapCause.HOST_LATE, count=3, total_ns=38_000, longest_ns=20_000),
        Idle(cause=GapCause.BETWEEN_SLICES, count=2, total_ns=4_000, longest_ns=3_000),
    ),
    stream_overlap_ns=0,
    kernels=Attribution(exact=5, by_graph=10, inferred=4, unknown=1),
)


def _run(*findings: Finding) -> Run:
    return msgspec.structs.replace(ladder_runs()[0], trace_health=findings)


def _table(run: Run) -> str:
    return table_html(rows(entries_of(results(run)), by="gpu_time"), by=By.GPU_TIME)


def test_a_count_that_a_finding_puts_in_doubt_is_marked_in_the_table_and_others_are_not() -> None:
    html = _table(_run(LOST))
    assert html.count(MARK) == 1
    assert f"<li>{WHY}</li>" in html
    assert WHY not in _table(_run(INFORMATION))


def test_the_ledger_marks_its_counts_and_times() -> None:
    entries = entries_of(results(_run(LOST)))
    drawn = ledger(entries)
    assert drawn is not None
    assert ledger_html(drawn, base_key=None).count(MARK) == 2


def test_the_kernel_list_marks_the_sum_of_its_times() -> None:
    def html(finding: Finding) -> str:
        return kernels_html(_run(finding), unit=MICROSECONDS, stages=5, on_cpu=False)

    assert html(LOST).count(MARK) == 1
    assert "fs-doubt" not in html(INFORMATION)


def test_the_spreadsheet_names_the_numbers_in_doubt() -> None:
    text = comparison_csv(entries_of(results(_run(LOST))), base_key=None, by="gpu_time")
    (line,) = csv.DictReader(io.StringIO(text))
    assert line["doubtful"].split("; ")[0] == "kernels"


def test_the_table_as_text_marks_the_count_and_names_it_in_the_note() -> None:
    lines = "\n".join(described(entries_of(results(_run(LOST))), baseline=None, by="gpu_time"))
    assert "5 ?" in lines
    assert f"{WHY} (in doubt: counts.kernels, traced_device_time)" in lines


def test_the_panel_says_why_the_device_was_idle_and_what_was_joined_to_launches() -> None:
    html = health_html("naive", (), RECORDED)
    assert "<li>42.0 µs idle of 178.0 µs under the profiler: 38.0 µs host late, 4.0 µs between kernels</li>" in html
    assert "75 % of 20 recorded kernels joined to launches" in html
    assert "10 by a graph&#x27;s launch, 4 launched before the recording, by order, 1 without a launch" in html


def test_full_coverage_and_no_idle_time_are_told_in_one_line() -> None:
    whole = msgspec.structs.replace(RECORDED, idle=(), kernels=Attribution(exact=5))
    html = health_html("naive", (), whole)
    assert "never idle within 178.0 µs under the profiler" in html
    assert "joined" not in html


def test_a_kernel_opens_to_its_whole_name_and_the_operators_that_launched_it() -> None:
    run = _run()
    told = msgspec.structs.replace(RECORDED, launched_by=(("aten::bmm", "<b>op</b>"),))
    first = min(run.kernels, key=lambda use: use.position)
    assert run.kernels[0] == first
    html = kernels_html(msgspec.structs.replace(run, recorded=told), unit=MICROSECONDS, stages=5, on_cpu=False)
    assert html.count("launched by") == 1
    assert "launched by aten::bmm, &lt;b&gt;op&lt;/b&gt;" in html


def test_a_kernel_opens_to_modules_and_lines_and_says_when_they_are_inferred() -> None:
    run = _run()
    line = f"net/{'deep/' * 30}<b>\u202e.py(3): forward"
    modules = tuple(f"Net.layers.{number}" for number in range(9))
    told = KernelCauses(operators=("aten::bmm",), modules=modules, sources=(line,), inferred=True)
    html = kernels_html(msgspec.structs.replace(run, causes=(told,)), unit=MICROSECONDS, stages=5, on_cpu=False)
    assert "in module Net.layers.0, Net.layers.1" in html
    assert "Net.layers.5 and 3 more</span>" in html
    whole = f"net/{'deep/' * 30}&lt;b&gt;\\u202e.py(3): forward"
    assert f'at <span title="{whole}">net/deep/deep/deep/deep/…' in html
    assert html.count("inferred from an uncaptured pass") == 1
    own = msgspec.structs.replace(told, inferred=False)
    assert "inferred" not in kernels_html(
        msgspec.structs.replace(run, causes=(own,)), unit=MICROSECONDS, stages=5, on_cpu=True
    )


def test_idle_time_is_marked_where_records_of_the_gpu_were_left_out() -> None:
    left_out = Finding(code="malformed_records", message=WHY, count=2, doubtful=("idle",))
    assert f"<li><span {MARK}>42.0 µs idle" in health_html("naive", (left_out,), RECORDED)
    assert MARK not in health_html("naive", (LOST, INFORMATION), RECORDED)
