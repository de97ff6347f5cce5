"""The charts as HTML: what they show, what they leave out, and that nothing from outside gets in unescaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from app.charts.answer import answer_html
from app.charts.bars import bars_html, small_bar
from app.charts.compilation import compilations_html
from app.charts.health import health_html
from app.charts.kernels import kernels_html
from app.charts.ledger import ledger_html
from app.charts.receipt import receipts_html, what_ran
from app.charts.table import completeness_text, table_html
from app.charts.visit_tables import first_visits_html
from profiles.comparison.answer import answer
from profiles.comparison.caveat import Caveat
from profiles.comparison.entry import Entry, entries_of
from profiles.comparison.figures import MICROSECONDS, MILLISECONDS
from profiles.comparison.ledger import ledger
from profiles.comparison.parts import text
from profiles.comparison.speed import By
from profiles.comparison.table import completeness, rows
from profiles.compilation import Artefact, Compilation, FusedKernel, GraphBreak, Recompile
from profiles.results import Correctness, Counts, FailureKind, Finding, Receipt, Role, Run, RunStatus
from tests.profiles.comparison.ladder import failed, ladder, ladder_runs, refused, results, use
from tests.profiles.comparison.other import CPU, CPU_LADDER, DECODER, cpu_runs, decoder_runs

STAGES = ("scores", "scale", "mask", "softmax", "values")
EVIL = '<img src=x onerror="alert(1)">'


def _table(entries: Sequence[Entry], by: By = By.GPU_TIME) -> str:
    return table_html(rows(entries, by=by), by=by)


def _cells(html: str, variant: str) -> list[str]:
    """The text of the cells of one row."""
    row = next(r for r in re.findall(r"<tr.*?</tr>", html) if f">{variant}<" in r)
    return [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]


def _head(html: str) -> list[str]:
    return [re.sub(r"<[^>]+>", " ", cell).strip() for cell in re.findall(r"<th scope=\"col\".*?</th>", html)]


def test_gpu_table_counts_every_kind_apart_and_shows_spread_beside_the_median() -> None:
    html = _table(ladder())
    assert _cells(html, "naive") == [
        *("A naive", "as written", "5", "1", "2", "5", "4,531.54,522.4–4,540.6", "", "4,546.0", "baseline"),
        *("15.2", "2,112", "✓ 3.7e-3"),
    ]
    assert _cells(html, "sdpa_auto")[1] == "auto → cuDNN"
    assert _cells(html, "sdpa_auto")[9] == "▲ 25.4×"
    assert _cells(html, "sdpa_math")[9] == "▼ 0.45×"


def test_cpu_table_has_operators_and_call_times_and_no_gpu_columns() -> None:
    entries = entries_of(results(*cpu_runs(), workload=CPU_LADDER, environment=CPU))
    html = _table(entries, By.CALL_TIME)
    head = " | ".join(_head(html))
    assert "Operators per forward" in head
    assert "Back-to-back" in head
    assert "Kernels" not in head
    assert "GPU time" not in head
    assert _cells(html, "naive_inplace")[5] == "? 1.03×"


def test_decoder_table_has_tokens_and_ms() -> None:
    html = _table(entries_of(results(*decoder_runs(), workload=DECODER)))
    assert "Tokens per s" in _head(html)
    assert "145,000" in _cells(html, "sdpa")
    assert _cells(html, "sdpa")[6].startswith("56.50")


def test_refused_failed_and_incorrect_rows_say_why_and_have_no_speed_up() -> None:
    nan = Correctness(relative_l2=None, max_abs=None, nonfinite=12, tolerance=1e-2, passed=False)
    wrong = msgspec.structs.replace(ladder_runs()[2], variant="wrong_norm", status=RunStatus.INCORRECT, correctness=nan)
    html = _table(
        ladder(
            refused("hub", "package kernels is not installed"),
            failed("big", FailureKind.OUT_OF_MEMORY, "64 GiB"),
            wrong,
        )
    )
    assert _cells(html, "hub") == ["– hub", "refused package kernels is not installed"]
    assert _cells(html, "big")[1].startswith("failed out_of_memory 64 GiB Try without it")
    assert _cells(html, "wrong_norm")[-1] == "incorrect 12 not finite"
    assert _cells(html, "wrong_norm")[9] == "–"


def test_what_is_not_recorded_is_a_dash_and_never_a_zero() -> None:
    bare = msgspec.structs.replace(
        ladder_runs()[2],
        counts=Counts(kernels=None, memcpy=0),
        correctness=None,
        trace_health=(Finding(code="no_gpu_records", message="GPU records are missing", count=1),),
    )
    html = _table(entries_of(results(ladder_runs()[0], bare)))
    cells = _cells(html, "sdpa_auto")
    assert cells[2:6] == ["–", "0", "–", "–"]
    assert cells[-1] == "–"
    assert 'title="GPU records are missing"' in html


def test_doubts_are_underlined_and_repeated_as_numbered_notes() -> None:
    html = _table(ladder())
    assert '<span class="fs-doubt" title="Doubtful: the two halves of the samples differ by 6 %">281.5</span>' in html
    assert "<li>the two halves of the samples differ by 6 %</li>" in html


def test_unstable_counts_are_in_doubt() -> None:
    run = msgspec.structs.replace(ladder_runs()[0], counts=Counts(kernels=60, unstable=(60, 60, 59)))
    assert "unstable: 60, 60, 59 in equal passes" in _table(entries_of(results(run)))


def test_graph_launches_have_a_column_where_there_are_any() -> None:
    run = msgspec.structs.replace(ladder_runs()[0], counts=Counts(kernels=60, launches=0, graph_launches=1))
    assert "Graphs launched" in _head(_table(entries_of(results(run))))
    assert "Graphs launched" not in _head(_table(ladder()))


def test_names_and_reasons_from_outside_are_escaped_everywhere() -> None:
    run = msgspec.structs.replace(
        ladder_runs()[0],
        variant=EVIL,
        kernels=(
            use(EVIL, Role.GEMM, 5, "scores", position=0, name=EVIL),
            use(EVIL, Role.OTHER, 5, position=1, name=EVIL),
        ),
        receipt=Receipt(asked=EVIL, ran=EVIL, refusals={EVIL: EVIL}, detail=EVIL, order=(EVIL,)),
    )
    entries = entries_of(results(run, failed(EVIL, FailureKind.CRASHED, EVIL), refused(EVIL, EVIL)))
    laid_out = ledger(entries)
    assert laid_out is not None
    pages = (
        _table(entries),
        answer_html(answer(entries), Caveat(EVIL, (text(EVIL),))),
        receipts_html(entries, base_key="A"),
        ledger_html(laid_out, base_key="A"),
        bars_html(entries, base_key="A", subtitle=EVIL),
        kernels_html(run, unit=MICROSECONDS, stages=5, on_cpu=False),
        first_visits_html(entries, base_key="A"),
        health_html(EVIL, [Finding(code="x", message=EVIL, count=1, doubtful=(EVIL,))]),
    )
    for html in pages:
        assert "<img" not in html
        assert "&lt;img" in html


def test_receipt_badges_tell_a_choice_and_a_fall_apart_from_what_was_asked() -> None:
    assert "auto → flash" in what_ran(ran("sdpa", Receipt(asked="auto", ran="flash")))
    assert "fs-badge warn" in what_ran(ran("sdpa", Receipt(asked="auto", ran="math", fell_back=True)))
    assert "fs-badge" not in what_ran(ran("sdpa", Receipt(asked="cudnn", ran="cudnn")))
    assert "cuDNN, as asked" in what_ran(ran("sdpa", Receipt(asked="cudnn", ran="cudnn")))
    assert "as written" in what_ran(ran("unfused"))
    assert "compiled, replayed" in what_ran(ran("unfused@compile-reduce-overhead"))
    assert "later-mode" in what_ran(ran("unfused@later-mode"))


def test_a_graph_that_was_skipped_is_a_badge_and_opens_the_receipts() -> None:
    skipped = Receipt(
        mechanism="cuda_graph",
        asked="graph replay",
        ran="single launches",
        fell_back=True,
        refusals={"graph replay": "mutated inputs"},
        detail="CUDA graphs were skipped: mutated inputs",
        versions={"torch": "2.13.0"},
    )
    run = ran("unfused@compile-reduce-overhead", dispatch=(Receipt(asked="inductor", ran="inductor"), skipped))
    assert "fell back: single launches" in what_ran(run)
    html = receipts_html(entries_of(results(run)), base_key=None)
    assert "<details" in html
    assert " open>" in html
    assert html.count("<tr>") == 3
    assert "torch 2.13.0" in html
    assert "CUDA graphs" in html


def test_a_compilation_tells_graphs_breaks_stages_kernels_and_links_its_code() -> None:
    compilation = Compilation(
        graphs=2,
        breaks=(GraphBreak(reason=EVIL, where="model.py:12"),),
        recompiles=(Recompile(guard=EVIL),),
        compile_s=3.2,
        stages_s={"dynamo": 0.8, "code": 2.4},
        kernels=(FusedKernel(name=EVIL, operators=("mul", EVIL)),),
        graph_skips=(EVIL,),
    )
    artefact = Artefact(name=EVIL, sha256="ab" * 32, size_bytes=1234)
    run = msgspec.structs.replace(ran("unfused@compile"), compilation=compilation, artefacts=(artefact,))
    html = compilations_html(entries_of(results(run)), base_key="A", code=lambda key, sha: f"code/{key}/{sha}")
    assert "2 graphs, 1 break, 1 recompilation, CUDA graphs skipped, compiled in 3.20 s" in html
    assert "width:25.000%" in html
    assert "model.py:12" in html
    assert f'href="code/A/{"ab" * 32}"' in html
    assert "<img" not in html
    assert compilations_html(ladder(), base_key="A", code=lambda key, sha: key + sha) == ""


def ran(variant: str, receipt: Receipt | None = None, dispatch: tuple[Receipt, ...] = ()) -> Run:
    return Run(variant=variant, status=RunStatus.SUCCEEDED, receipt=receipt, dispatch=dispatch)


def test_receipts_are_folded_and_give_each_reason() -> None:
    html = receipts_html(ladder(), base_key="A")
    assert html.count("<details") == 1
    assert "not the pinned backend" in html
    assert receipts_html(ladder()[:2], base_key="A") == ""


def test_ledger_lets_a_fused_kernel_span_its_rows() -> None:
    laid_out = ledger(ladder()[:3])
    assert laid_out is not None
    html = ledger_html(laid_out, base_key="A")
    assert "grid-column:4;grid-row:2/span 5" in html
    assert "5 stages in one" in html
    assert "5 kernels, 1 copy, 2 fills" in html


def test_a_thin_block_has_room_for_its_name_alone() -> None:
    uses = (use("Memset", Role.FILL, 0.7, *STAGES, position=0), use("fused", Role.ATTENTION, 60.0, *STAGES, position=1))
    laid_out = ledger(entries_of(results(msgspec.structs.replace(ladder_runs()[2], kernels=uses))))
    assert laid_out is not None
    memset, fused = re.findall(r'<div class="fs-ledger-block.*?</div>', ledger_html(laid_out, base_key=None))
    assert ("Memset" in memset, "stages in one" in memset) == (True, False)
    assert "5 stages in one" in fused


def test_a_cpus_columns_are_known_before_the_first_run_is_timed() -> None:
    runs = [refused("sdpa_cudnn", "needs a cuda device"), failed("naive", FailureKind.CRASHED, "signal 9")]
    head = " | ".join(_head(_table(entries_of(results(*runs, workload=CPU_LADDER, environment=CPU)))))
    assert "Operators per forward" in head
    assert "GPU time" not in head


def test_bars_share_one_linear_scale() -> None:
    html = bars_html(ladder(), base_key="A", subtitle="")
    widths = [float(found) for found in re.findall(r'fs-stack" style="width:([\d.]+)%', html)]
    assert abs(widths[0] / widths[2] - 4528.2 / 178) < 0.05


def test_small_bar_of_a_run_without_kernels_is_empty() -> None:
    assert small_bar(msgspec.structs.replace(ladder_runs()[0], kernels=()), 100) == ""


def test_kernel_list_is_in_launch_order_with_shares_and_the_sum() -> None:
    html = kernels_html(ladder_runs()[0], unit=MICROSECONDS, stages=5, on_cpu=False)
    names = re.findall(r'<code class="fs-kernel"[^>]*>(.*?)</code>', html)
    assert names == ["nvjet 256×128", "mul (scalar)", "Memcpy DtoD", "masked_fill", "softmax_warp_fwd", "nvjet 64×512"]
    assert "32.3 %" in html
    assert "profiler off: 4,531.5 µs" in html


def test_long_kernel_list_shows_the_longest_and_folds_the_rest() -> None:
    html = kernels_html(decoder_runs()[0], unit=MILLISECONDS, stages=0, on_cpu=False)
    assert re.findall(r'<code class="fs-kernel"[^>]*>(.*?)</code>', html)[0] == "softmax_warp_fwd"
    assert "25 more" in html
    assert "Stage" not in html


def test_completeness_leaves_out_what_there_is_none_of() -> None:
    assert completeness_text(completeness(ladder(refused("x", "no")))) == "7 measured · 1 refused · 1 number in doubt"


def test_receipts_show_only_the_columns_that_one_of_them_fills() -> None:
    compiled = Receipt(mechanism="compile", asked="inductor", ran="inductor")
    ordered = msgspec.structs.replace(compiled, order=("cudnn", "flash"), refusals={"flash": "head_dim 512"})

    def heads(*receipts: Receipt) -> list[str]:
        runs = (msgspec.structs.replace(ladder_runs()[0], dispatch=(receipt,)) for receipt in receipts)
        return _head(receipts_html(entries_of(results(*runs)), base_key=None))

    assert heads(compiled) == ["Variant", "Who chose", "Asked", "Ran"]
    assert heads(compiled, ordered)[4:] == ["Order", "Why not the others"]
