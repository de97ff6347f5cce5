"""What the options of `run` and `submit` make of a preset."""

from __future__ import annotations

import argparse

import pytest

from app.commands.command import CommandError
from app.commands.request import add_request_arguments, build_request
from profiles.job import JobError, JobRequest
from profiles.plan import CachePolicy, Load, Order, Plan, PlanError, Walk
from profiles.presets import PresetError
from profiles.presets import request as preset_request
from profiles.workload import DType


def asked(*words: str) -> JobRequest:
    parser = argparse.ArgumentParser()
    add_request_arguments(parser)
    return build_request(parser.parse_args(words))


def test_a_preset_without_options_is_the_presets_own_job() -> None:
    assert asked("attention-ladder", "--device", "cuda:1") == preset_request("attention-ladder", device="cuda:1")


def test_a_setting_reaches_every_workload_that_has_the_axis() -> None:
    job = asked("fusion-pairs", "--device", "cpu", "--set", "hidden=64", "--set", "rows=8")
    swiglu, norm = (trial.workload.axes for trial in job.trials)
    assert swiglu == {"rows": 8, "width": 512, "hidden": 64}
    assert norm == {"rows": 8, "width": 1024}


def test_dtype_and_seed_are_set_like_axes() -> None:
    job = asked("attention-ladder", "--device", "cpu", "--set", "dtype=bf16", "--set", "seed=7")
    assert (job.trials[0].workload.dtype, job.trials[0].workload.seed) == (DType.BF16, 7)


def test_truth_is_written_in_words() -> None:
    job = asked("attention-ladder", "--device", "cpu", "--set", "causal=false")
    assert job.trials[0].workload.axes["causal"] is False


def test_chosen_variants_are_measured_in_the_order_in_which_they_were_named() -> None:
    job = asked("attention-ladder", "--device", "cpu", "--variant", "sdpa_flash", "--variant", "naive@eager")
    assert job.trials[0].variants == ("sdpa_flash", "naive")


def test_a_variant_that_the_preset_leaves_out_can_be_chosen() -> None:
    job = asked("fusion-pairs", "--device", "cuda", "--variant", "unfused", "--variant", "unfused@cudagraph")
    assert [trial.variants for trial in job.trials] == [("unfused", "unfused@cudagraph")] * 2
    assert "unfused@cudagraph" not in asked("fusion-pairs", "--device", "cuda").trials[0].variants


def test_a_workload_whose_operation_has_no_chosen_variant_is_left_out() -> None:
    job = asked("fusion-pairs", "--device", "cpu", "--variant", "functional@compile")
    assert [trial.workload.operation for trial in job.trials] == ["residual_rms_norm"]


def test_samples_change_the_plan_alone() -> None:
    plain, more = asked("fusion-pairs", "--device", "cpu"), asked("fusion-pairs", "--device", "cpu", "--samples", "50")
    assert more.plan.samples == 50
    assert (more.trials, more.plan.budget_s) == (plain.trials, plain.plan.budget_s)


def test_every_part_of_the_plan_has_an_option() -> None:
    words = "--cache in-context --order isolated --load sustained --samples 40 --builds 12 --margin 0.7% --budget 45"
    job = asked("attention-ladder", "--device", "cuda", *words.split(), "--walk", "seq_kv=1031:2", "--energy", "--deep")
    assert job.plan == Plan(
        cache=CachePolicy.IN_CONTEXT,
        order=Order.ISOLATED,
        load=Load.SUSTAINED,
        samples=40,
        builds=12,
        margin=0.007,
        budget_s=45.0,
        walk=Walk(axis="seq_kv", last=1031, step=2),
        energy=True,
        deep=True,
    )


def test_a_preset_s_own_walk_can_be_left_out() -> None:
    assert asked("shape-churn", "--device", "cuda").plan.walk is not None
    assert asked("shape-churn", "--device", "cuda", "--walk", "none").plan.walk is None


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["attention-lader"], PresetError, "unknown preset 'attention-lader'; expected one of 'attention-ladder'"),
        (["fusion-pairs", "--set", "row=8"], CommandError, "expected one of 'rows', 'width', 'hidden', 'dtype'"),
        (["fusion-pairs", "--set", "rows"], CommandError, "is not AXIS=VALUE"),
        (["fusion-pairs", "--set", "rows=many"], CommandError, "'many' is no whole number"),
        (["fusion-pairs", "--set", "rows=0"], JobError, "accepted are whole numbers from 1"),
        (["fusion-pairs", "--set", "dtype=fp64"], CommandError, "expected one of 'bf16', 'fp16', 'fp32'"),
        (["attention-ladder", "--set", "causal=maybe"], JobError, "accepted are true and false"),
        (["attention-ladder", "--set", "kv_heads=3"], JobError, "does not divide heads"),
        (["attention-ladder", "--variant", "sdpa_flsh"], CommandError, "unknown variant 'sdpa_flsh'"),
        (["attention-ladder", "--variant", "naive", "--variant", "naive@eager"], JobError, "more than once"),
        (["attention-ladder", "--samples", "3"], PlanError, "samples is 3"),
        (["attention-ladder", "--builds", "1"], PlanError, "builds is 1; accepted are 2 to 1,000"),
        (["attention-ladder", "--budget", "0.1"], PlanError, "accepted are 1 to 3,600 seconds"),
        (["attention-ladder", "--budget", "nan"], PlanError, "budget_s is nan"),
        (["attention-ladder", "--margin", "half"], PlanError, "margin is 'half'; accepted are percentages"),
        (["attention-ladder", "--margin", "nan"], PlanError, "margin is 'nan'"),
        (["attention-ladder", "--margin", "20"], PlanError, "margin is 0.2"),
        (["attention-ladder", "--walk", "seq_kv"], PlanError, "expected AXIS=LAST, AXIS=LAST:STEP"),
        (["attention-ladder", "--walk", "seq_kv=-5"], PlanError, "expected AXIS=LAST"),
        (["attention-ladder", "--walk", "seq_kv=600:0"], PlanError, "the walk's step is 0"),
        (["attention-ladder", "--walk", "causal=600"], JobError, "the walk's axis is 'causal'"),
        (["attention-ladder", "--walk", "seq_kv=5"], JobError, "before its first, 512"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_is_accepted(
    words: list[str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        asked(*words, "--device", "cpu")
    assert said in str(refused.value)


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(PresetError, match="expected 'cpu', 'cuda' or 'cuda:N'"):
        asked("fusion-pairs", "--device", "tpu")
