"""Limits, the roofline, launch shapes and deep profiles as HTML."""

from __future__ import annotations

import re
from itertools import pairwise

import msgspec
import pytest

from app.charts.deep import deep_html
from app.charts.kernels import kernels_html
from app.charts.launch import launch_cell, launch_words
from app.charts.limits import limit_cell, limits_html
from app.charts.roofline import BOTTOM, HEIGHT, WIDTH
from app.charts.table import table_html
from app.commands.variant_table import described
from profiles.ceilings import Bandwidth, Ceilings, Costs, MatmulRate
from profiles.comparison.document import document
from profiles.comparison.entry import MeasuredEntry, State, entries_of
from profiles.comparison.figures import MICROSECONDS
from profiles.comparison.limits import Standing, standing
from profiles.comparison.speed import By
from profiles.comparison.table import rows
from profiles.results import DeepKernel, DeepProfile, KernelUse, Role, Run
from profiles.workload import DType
from tests.profiles.comparison.ladder import ladder, ladder_runs, results, use

MB = 10**6
CEILINGS = Ceilings(
    bandwidths=tuple(Bandwidth(size_bytes=10**9, read_share=s, gb_per_s=4000.0, cold=True) for s in (0.5, 1.0)),
    matmuls=(MatmulRate(dtype=DType.BF16, size=8192, tflop_per_s=700.0),),
    exp_per_s=4e12,
    launch_ns=1500.0,
)
EVIL = '<img src=x onerror="alert(1)">'


def costs_of(run: Run) -> Costs:
    """What a naive one moves is known, what the automatic one moves is not."""
    moved = {"naive": 4000 * MB, "sdpa_auto": None}.get(run.variant, 134 * MB)
    return Costs(least_bytes=134 * MB, read_bytes=100 * MB, moved_bytes=moved, useful_flops=68 * 10**9)


def _entries(ceilings: Ceilings | None = CEILINGS) -> tuple[MeasuredEntry, ...]:
    runs = tuple(msgspec.structs.replace(run, costs=costs_of(run)) for run in ladder_runs())
    return entries_of(msgspec.structs.replace(results(*runs), ceilings=ceilings))


def _entry(variant: str) -> MeasuredEntry:
    return next(entry for entry in _entries() if entry.variant == variant)


def _text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()


def test_a_cell_has_the_share_and_the_label_and_the_sum_on_hover() -> None:
    html = limit_cell(standing(_entry("sdpa_cudnn")))
    assert _text(html) == "53 % compute-bound"
    assert 'title="compute-bound: 68.0 GFLOP at 700 TFLOP/s need 97.1 µs of the measured' in html


def test_without_ceilings_there_is_neither_column_nor_panel() -> None:
    assert "Of limit" not in table_html(rows(ladder()), by=By.GPU_TIME)
    assert limits_html(rows(ladder()), base_key="A") == ""
    assert "of limit" not in "\n".join(described(ladder(), baseline=None, by=By.GPU_TIME))


def test_with_ceilings_the_table_the_panel_the_command_and_the_document_say_the_same() -> None:
    entries = _entries()
    assert "Of limit" in table_html(rows(entries), by=By.GPU_TIME)
    assert "53 % compute-bound" in "\n".join(described(entries, baseline=None, by=By.GPU_TIME))
    panel = _text(limits_html(rows(entries), base_key="A"))
    assert "68.0 GFLOP at 700 TFLOP/s need 97.1 µs of the measured 181.6 (53 %)" in panel
    told = document(entries, base_key=None, by=By.GPU_TIME, source=lambda _: "here").workloads[0].rows
    auto = next(row for row in told if row.variant == "sdpa_cudnn")
    assert (auto.bound, round(auto.of_limit or 0, 2)) == ("compute-bound", 0.53)


def test_a_page_works_out_once_for_each_run_how_near_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out = []

    def counted(entry: MeasuredEntry) -> Standing:
        worked_out.append(entry.key)
        return standing(entry)

    monkeypatch.setattr("profiles.comparison.table.standing", counted)
    for module in ("app.charts.limits", "app.charts.columns"):
        monkeypatch.setattr(f"{module}.standing", counted, raising=False)
    drawn = rows(_entries())
    assert "Of limit" in table_html(drawn, by=By.GPU_TIME)
    assert limits_html(drawn, base_key="A")
    assert sorted(worked_out) == sorted(row.entry.key for row in drawn if row.state is State.MEASURED)


def test_a_run_without_costs_is_a_dash_with_the_reason() -> None:
    runs = tuple(msgspec.structs.replace(run, costs=None) for run in ladder_runs())
    entries = entries_of(msgspec.structs.replace(results(*runs), ceilings=CEILINGS))
    assert _text(limit_cell(standing(entries[0]))) == "–"
    assert "was not recorded" in limit_cell(standing(entries[0]))
    assert limits_html(rows(entries), base_key="A") == ""


def test_each_variant_is_a_point_within_the_roofline_with_its_letter_and_name() -> None:
    entries = _entries()
    html = limits_html(rows(entries), base_key="A")
    chart = html[html.index('class="fs-roofline"') : html.index('class="fs-limits"')]
    points = re.findall(r'<i class="point( hollow)?" style="left:([\d.]+)px;top:([\d.]+)px" title="(\S+) (\S+):', chart)
    assert {(key, name) for *_, key, name in points} == {(e.key, e.variant) for e in entries}
    assert all(0 < float(left) < WIDTH and 0 < float(top) < HEIGHT for _, left, top, *_ in points)
    assert [name for hollow, *_, name in points if hollow] == ["sdpa_auto"]
    assert "may belong further left" in html
    heights = {name: float(top) for *_, top, _, name in points}
    assert heights["sdpa_auto"] < heights["sdpa_flash"] < heights["naive"]  # faster stands higher


def test_the_names_of_several_devices_are_text() -> None:
    named = results(*(msgspec.structs.replace(run, costs=costs_of(run)) for run in ladder_runs()))
    other = msgspec.structs.replace(named.environment, device_name=EVIL)
    strange = msgspec.structs.replace(named, environment=other, ceilings=CEILINGS)
    html = limits_html(rows((*_entries(), *entries_of(strange))), base_key="A")
    assert "on &lt;img src=x" in html
    assert "<img" not in html


def test_the_labels_of_the_roofline_do_not_cover_each_other() -> None:
    html = limits_html(rows(_entries()), base_key="A")
    tops = [float(top) for top in re.findall(r'<span class="name[^"]*" style="left:[\d.]+px;top:([\d.]+)px', html)]
    assert all(later - earlier >= 15 for earlier, later in pairwise(tops))


def test_labels_of_alike_variants_stay_within_the_roofline() -> None:
    slow = Costs(least_bytes=134 * MB, read_bytes=100 * MB, moved_bytes=134 * MB, useful_flops=10**7)
    runs = tuple(msgspec.structs.replace(run, costs=slow) for run in ladder_runs())
    html = limits_html(rows(entries_of(msgspec.structs.replace(results(*runs), ceilings=CEILINGS))), base_key="A")
    tops = [float(top) for top in re.findall(r'<span class="name[^"]*" style="left:[\d.]+px;top:([\d.]+)px', html)]
    assert len(tops) == len(runs)
    assert max(tops) < HEIGHT - BOTTOM - 16


def test_that_calls_wait_for_the_host_is_told_once() -> None:
    text = _text(limits_html(rows(_entries()), base_key="A"))
    assert text.count("for the host") == 1
    assert "Called back to back, 2 of 7 wait for the host, a call each: sdpa_cudnn 281.5 µs , sdpa_flash 362.8" in text


def test_an_operation_without_flops_has_sums_and_no_roofline() -> None:
    runs = tuple(msgspec.structs.replace(r, costs=Costs(least_bytes=134 * MB)) for r in ladder_runs())
    html = limits_html(rows(entries_of(msgspec.structs.replace(results(*runs), ceilings=CEILINGS))), base_key="A")
    assert "fs-roofline" not in html
    assert "134 MB at 4.00 TB/s need 33.5 µs" in html


def _shaped(**shape: object) -> KernelUse:
    return msgspec.structs.replace(use("k", Role.GEMM, 1.0, position=0), **shape)


def test_a_launch_is_blocks_threads_and_registers_with_all_of_it_on_hover() -> None:
    shaped = _shaped(grid=(8, 12, 1), block=(384, 1, 1), registers=168, shared_bytes=197_120, occupancy=0.06)
    assert _text(launch_cell(shaped)) == "96 × 384 · 168"
    assert launch_words(shaped) == (
        "grid 8×12×1, block 384×1×1, 168 registers a thread, 192.5 KiB of shared memory a block, about 6 % occupancy"
    )
    assert "occupancy not reported" in launch_words(_shaped(grid=(1, 1, 1), block=(1, 1, 1)))


def test_the_kernel_list_has_launches_where_the_trace_tells_them() -> None:
    def listed(*uses: KernelUse) -> str:
        run = msgspec.structs.replace(ladder_runs()[0], kernels=uses)
        return kernels_html(run, unit=MICROSECONDS, stages=5, on_cpu=False)

    plain, shaped = use("k", Role.GEMM, 1.0, position=0), _shaped(grid=(2, 1, 1), block=(64, 1, 1))
    assert "Launch" not in _text(listed(plain))
    assert "Launch" in _text(listed(plain, shaped))
    assert "2 × 64" in _text(listed(plain, shaped))
    spans = re.compile(r'<t[hd](?: [^>]*?colspan="(\d+)")?')
    listing = re.findall(r"<tr.*?</tr>", listed(plain, shaped))
    assert len({sum(int(span or 1) for span in spans.findall(row)) for row in listing}) == 1


def test_a_deep_profile_lists_shares_and_traffic() -> None:
    kernel = DeepKernel(name=f"{EVIL}()", duration_ns=96_416, compute_percent=41.2, dram_read_bytes=50_365_952)
    html = deep_html(DeepProfile(tool="ncu 2024.3.2", kernels=(kernel,)))
    assert EVIL not in html
    text = _text(html)
    assert "Deep profile by ncu 2024.3.2: 1 kernel" in text
    assert "96.4 µs 41.2 % – 50.4 MB – – –" in text


@pytest.mark.parametrize("failure", ["ncu is not installed: not on PATH, and NCU names no program", EVIL])
def test_a_deep_profile_that_failed_says_why(failure: str) -> None:
    html = deep_html(DeepProfile(tool="ncu", failure=failure))
    assert "told nothing" in html
    assert EVIL not in html
