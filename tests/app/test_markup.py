"""Small pieces of HTML: what comes from outside is escaped, names are in mono, figures bold."""

from __future__ import annotations

import msgspec

from app import markup
from app.context import now
from app.pages import question_cards
from app.states import comparison_words, short_device
from db.views import ComparedRun, ComparisonSummary, JobStatus, TrialStatus
from profiles import presets
from profiles.results import Counts, KernelUse, Metric, Role, Run, RunStatus

HOSTILE = '<img src=x onerror="alert(1)">'


def test_names_from_outside_are_escaped_everywhere() -> None:
    pieces = [
        markup.badge(HOSTILE),
        markup.mono(HOSTILE),
        markup.muted(HOSTILE),
        markup.link(HOSTILE, HOSTILE),
        markup.section(HOSTILE),
        markup.title(HOSTILE, lead=HOSTILE),
        markup.prose(HOSTILE),
        markup.brief_answer(HOSTILE),
    ]
    for piece in pieces:
        assert "<img" not in piece
        assert "&lt;img" in piece


def test_an_answer_has_its_variants_in_mono_and_its_first_ratio_bold() -> None:
    told = markup.answer("sdpa_auto is 25.4× faster than naive: sdpa_automatic is no variant, 2.0× is not first.")
    assert told.startswith("<code>sdpa_auto</code> is <b>25.4×</b> faster than <code>naive</code>")
    assert "sdpa_automatic" in told
    assert "<b>2.0×</b>" not in told


def test_an_execution_belongs_to_the_variants_name() -> None:
    assert "<code>unfused@compile</code>" in markup.answer("unfused@compile is 1.06× faster than unfused.")


def test_a_list_shows_an_answers_first_clause_and_the_whole_on_hover() -> None:
    text = "sdpa_auto is 25.4× faster than naive (medians 178.5 and 4,531.5 µs): 5 kernels became 1; equal output."
    assert markup.brief(text) == "sdpa_auto is 25.4× faster than naive: 5 kernels became 1"
    assert "medians 178.5" in markup.brief_answer(text)


def test_nothing_measured_is_a_dash_with_the_reason() -> None:
    assert "nothing is measured yet" in markup.answer(None)


def test_a_bar_is_as_wide_as_its_time_is_of_the_scale() -> None:
    entries = _ladder()
    drawn = question_cards.picture("attention-ladder", [entries])
    assert "width:100.00%" in drawn
    assert "width:4.00%" in drawn
    assert "fs-role-gemm" in drawn
    assert "<b>25.0×</b> <code>sdpa_auto</code> against <code>naive</code>" in drawn


def test_bars_are_as_long_as_the_times_compared_whatever_the_traced_pass_took() -> None:
    entries = (
        _entry("A", "naive", _gpu(5000.0), kernels=((Role.GEMM, 900),)),
        _entry("B", "sdpa_auto", _gpu(200.0), kernels=((Role.ATTENTION, 40_000),)),
    )
    drawn = question_cards.picture("attention-ladder", [entries])
    assert [drawn.count(f"width:{width}%") for width in ("100.00", "4.00")] == [1, 1]
    assert drawn.index("fs-role-gemm") < drawn.index("fs-role-attention")


def test_a_question_is_answered_by_the_newest_comparison_that_can() -> None:
    alone = (_entry("A", "naive", _gpu(5000.0)),)
    drawn = question_cards.picture("attention-ladder", [alone, _ladder()])
    assert "<b>25.0×</b>" in drawn


def test_what_cannot_be_told_apart_answers_no_question() -> None:
    noisy = [
        _entry(key, variant, msgspec.structs.replace(_gpu(ns), low=100.0, high=9000.0))
        for key, variant, ns in (("A", "naive", 5000.0), ("B", "sdpa_auto", 200.0))
    ]
    assert "<b>25.0×</b>" in question_cards.picture("attention-ladder", [_ladder()])
    for preset in ("attention-ladder", "fusion-pairs"):
        assert "No answer measured here yet." in question_cards.picture(preset, [noisy])


def test_a_question_without_an_answer_is_a_sketch_without_colour_or_figures() -> None:
    for preset in presets.PRESETS:
        drawn = question_cards.picture(preset.name, ())
        assert "No answer measured here yet." in drawn
        assert "fs-role" not in drawn


def test_a_whole_models_question_is_answered_in_tokens_per_second() -> None:
    rates = {"eager": 67_000.0, "sdpa": 145_000.0}
    entries = [
        _entry(key, variant, Metric(name="tokens_per_s", unit="1/s", statistic="median", value=rate))
        for key, (variant, rate) in zip("AB", rates.items(), strict=True)
    ]
    drawn = question_cards.picture("decoder-end-to-end", [entries])
    assert "145k tok/s" in drawn
    assert "width:46.2%" in drawn


def test_what_is_normal_has_no_tone_and_what_deserves_a_look_has_one() -> None:
    assert comparison_words(_summary()) == ("done", None)
    assert comparison_words(_summary(incorrect=1))[1] is markup.Tone.BAD
    assert comparison_words(_summary(failed=2)) == ("2 failed", markup.Tone.BAD)
    assert comparison_words(_summary(status=JobStatus.RUNNING)) == ("running · 5 of 7", markup.Tone.RUN)
    assert comparison_words(_summary(succeeded=0, status=JobStatus.FAILED))[0] == "failed"
    assert comparison_words(_summary(status=None)) == ("done", None)


def test_a_devices_maker_is_left_out_and_a_processor_is_a_cpu() -> None:
    assert short_device("NVIDIA H200", "cuda") == "H200"
    assert short_device("AMD EPYC 9654", "cpu") == "CPU"
    assert short_device(None, None) == "–"


def _ladder() -> tuple[ComparedRun, ...]:
    return (
        _entry("A", "naive", _gpu(5000.0), kernels=((Role.GEMM, 3000), (Role.SOFTMAX, 2000))),
        _entry("B", "sdpa_auto", _gpu(200.0), kernels=((Role.ATTENTION, 200),)),
    )


def _gpu(ns: float) -> Metric:
    return Metric(name="gpu_time", unit="ns", statistic="median", value=ns)


def _entry(key: str, variant: str, metric: Metric, *, kernels: tuple[tuple[Role, int], ...] = ()) -> ComparedRun:
    uses = tuple(
        KernelUse(
            name=str(role),
            short_name=str(role),
            role=role,
            stages=(),
            calls=1,
            total_ns=ns,
            min_ns=ns,
            max_ns=ns,
            position=position,
        )
        for position, (role, ns) in enumerate(kernels)
    )
    preset = "decoder-end-to-end" if variant in ("eager", "sdpa") else "attention-ladder"
    request = presets.request(preset, device="cuda")
    run = Run(
        variant=variant,
        status=RunStatus.SUCCEEDED,
        metrics=(metric,),
        counts=Counts(kernels=len(uses)),
        kernels=uses,
    )
    return ComparedRun(
        key=key,
        variant=variant,
        run_id=1,
        run=run,
        trial_id=1,
        trial_status=TrialStatus.DONE,
        workload=request.trials[0].workload,
        plan=request.plan,
        environment=None,
        measured_at=now(),
        has_timeline=False,
    )


def _summary(
    *, succeeded: int = 5, incorrect: int = 0, failed: int = 0, status: JobStatus | None = JobStatus.DONE
) -> ComparisonSummary:
    return ComparisonSummary(
        id=1,
        name="Attention ladder",
        operation="attention",
        workload="B8",
        answer=None,
        runs=7,
        succeeded=succeeded,
        incorrect=incorrect,
        failed=failed,
        status=status,
        device_name="NVIDIA H200",
        device="cuda",
        created_by=None,
        created_at=now(),
    )
