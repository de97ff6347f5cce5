"""From the form to a request, to an address and to a command line, and back."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from app.commands.request import add_request_arguments, build_request
from app.forms import draft, estimates
from app.forms.command import submit_command
from app.forms.links import query
from profiles import catalog, presets
from profiles.job import JobError, JobRequest
from profiles.plan import CachePolicy, Load, Order, Plan, Walk
from profiles.workload import DType, Workload


def _draft(preset: str, *, device: str = "cpu", **axes: str) -> draft.Draft:
    parts = [replace(part, axes={**part.axes, **axes}) for part in draft.preset_parts(preset, device=device)]
    plan = presets.request(preset, device=device).plan
    return draft.Draft(name=presets.preset(preset).title, device=device, parts=tuple(parts), plan=plan, preset=preset)


@pytest.mark.parametrize("preset", [preset.name for preset in presets.PRESETS])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_untouched_form_asks_for_the_preset_itself(preset: str, device: str) -> None:
    assert draft.request(_draft(preset, device=device)) == presets.request(preset, device=device)


def test_a_length_that_is_left_empty_follows_the_other_one() -> None:
    request = draft.request(_draft("attention-ladder", seq_q="512, 1024"))
    lengths = [(t.workload.axes["seq_q"], t.workload.axes["seq_kv"]) for t in request.trials]
    assert lengths == [(512, 512), (1024, 1024)]


def test_two_swept_axes_make_one_trial_for_each_combination() -> None:
    request = draft.request(_draft("attention-ladder", seq_q="512, 1024", batch="1, 2, 4"))
    assert len(request.trials) == 6


def test_more_workloads_than_a_job_holds_are_refused() -> None:
    with pytest.raises(JobError, match="make 2,560 workloads"):
        draft.request(_draft("attention-ladder", seq_q="1…256", batch="1…10"))


def test_a_combination_that_no_device_can_measure_is_refused() -> None:
    with pytest.raises(JobError, match="does not divide heads"):
        draft.request(_draft("attention-ladder", heads="8", kv_heads="3"))


def test_what_is_wrong_is_told_axis_by_axis() -> None:
    part = draft.preset_parts("attention-ladder", device="cpu")[0]
    found = draft.problems(replace(part, axes={**part.axes, "batch": "no", "head_dim": ""}))
    assert len(found) == 2
    assert "batch is 'no'" in found[0]
    assert "head_dim is empty" in found[1]


def test_an_operation_without_chosen_variants_is_left_out() -> None:
    form = _draft("fusion-pairs")
    request = draft.request(replace(form, parts=(replace(form.parts[0], variants=()), form.parts[1])))
    assert [trial.workload.operation for trial in request.trials] == ["residual_rms_norm"]


@pytest.mark.parametrize("operation", [operation.name for operation in catalog.OPERATIONS])
def test_every_operation_can_be_chosen_as_it_is(operation: str) -> None:
    form = draft.Draft(
        name="own", device="cpu", parts=(draft.own_part(operation, device="cpu"),), plan=Plan(), preset=None
    )
    assert draft.request(form).trials[0].workload.operation == operation


def test_the_command_line_builds_the_same_job() -> None:
    form = _draft("attention-ladder", seq_q="1024", batch="2")
    part = replace(form.parts[0], variants=("naive", "sdpa_flash"))
    request = draft.request(replace(form, parts=(part,)))
    assert _from_terminal(submit_command(request)) == request


def test_an_untouched_preset_is_a_short_command() -> None:
    command = submit_command(presets.request("fusion-pairs", device="cuda"))
    assert command is not None
    assert command.replace("\\\n  ", "") == "fusescope submit fusion-pairs --device cuda"


def test_what_the_command_line_cannot_say_is_not_pretended() -> None:
    usual = presets.request("attention-ladder", device="cpu")
    assert submit_command(msgspec.structs.replace(usual, preset=None)) is None
    assert submit_command(draft.request(_draft("attention-ladder", seq_q="512, 1024"))) is None
    assert submit_command(msgspec.structs.replace(usual, plan=Plan(steps=7))) is None


def test_the_address_of_a_request_says_what_is_to_be_changed() -> None:
    request = draft.request(_draft("attention-ladder", seq_q="512…515"))
    asked = query(request)
    assert asked["preset"] == "attention-ladder"
    assert asked["attention.seq_q"] == "512…515"
    assert asked["attention.seq_kv"] == ""
    assert asked["attention.batch"] == "1"


def test_the_address_of_a_request_keeps_its_plan_and_all_of_its_operations() -> None:
    usual = presets.request("fusion-pairs", device="cpu")
    asked = query(msgspec.structs.replace(usual, plan=Plan(cache=CachePolicy.WARM, samples=40, budget_s=120.0)))
    assert [asked[name] for name in ("cache", "order", "samples", "budget")] == ["warm", "interleaved", "40", "120"]
    assert (asked["swiglu.rows"], asked["residual_rms_norm.rows"]) == ("256", "1024")


def test_an_own_choice_on_a_cpu_is_measured_as_the_questions_are() -> None:
    assert draft.own_plan(device="cpu").cache is presets.request("attention-ladder", device="cpu").plan.cache
    assert draft.own_plan(device="cuda:1").cache is presets.request("attention-ladder", device="cuda").plan.cache


def test_the_address_of_an_own_choice_names_its_operation() -> None:
    usual = presets.request("decoder-end-to-end", device="cpu")
    asked = query(msgspec.structs.replace(usual, preset=None))
    assert (asked["preset"], asked["operation"]) == ("own", "decoder_prefill")


def test_written_out_attention_wants_more_memory_than_fused() -> None:
    axes = {"batch": 8, "heads": 16, "kv_heads": 16, "seq_q": 2048, "seq_kv": 2048, "head_dim": 64, "causal": True}
    workload = Workload(operation="attention", axes=axes, dtype=DType.BF16)
    fused, naive, math = (estimates.peak_memory(workload, [v]) or 0 for v in ("sdpa_flash", "naive", "sdpa_math"))
    assert fused < naive < math
    assert naive == pytest.approx(2112 * 2**20, rel=0.1)
    assert math == pytest.approx(4880 * 2**20, rel=0.1)


def test_the_longest_time_knows_processes_energy_and_walks() -> None:
    request = presets.request("attention-ladder", device="cuda")
    assert estimates.longest(_planned(request, Plan(budget_s=30.0))) == "at most 30 s of timing"
    assert estimates.longest(_planned(request, Plan(budget_s=30.0, energy=True))) == "at most 70 s of timing"
    isolated = Plan(budget_s=30.0, energy=True, order=Order.ISOLATED)
    assert estimates.timing_s(_planned(request, isolated)) == 7 * (30.0 + 5.0 + 3.0)
    walked = _planned(request, Plan(budget_s=30.0, walk=Walk(axis="seq_kv", last=1033, step=2)))
    assert estimates.longest(walked) == "at most 30 s of timing, 35 first visits"


def _planned(request: JobRequest, plan: Plan) -> JobRequest:
    return msgspec.structs.replace(request, plan=plan)


def test_a_walk_is_offered_along_the_axes_that_all_chosen_operations_have() -> None:
    pair = draft.preset_parts("fusion-pairs", device="cpu")
    assert draft.walkable(pair) == ("rows", "width")
    assert draft.walkable((pair[0], replace(pair[1], variants=()))) == ("rows", "width", "hidden")
    assert draft.walkable(draft.preset_parts("decoder-end-to-end", device="cpu")) == ("batch", "seq")
    assert "causal" not in draft.walkable(draft.preset_parts("attention-ladder", device="cpu"))
    assert draft.walkable(()) == ()


def test_the_address_of_a_request_keeps_the_whole_plan() -> None:
    walked = Plan(builds=12, margin=0.007, load=Load.SUSTAINED, energy=True, walk=Walk(axis="seq_kv", last=600, step=4))
    asked = query(_planned(presets.request("attention-ladder", device="cpu"), walked))
    told = {"builds": "12", "margin": "0.7", "load": "sustained", "energy": "true", "deep": "false"}
    assert told | {"walk.axis": "seq_kv", "walk.last": "600", "walk.step": "4"} == {
        name: text for name, text in asked.items() if name in told or name.startswith("walk.")
    }
    assert query(_planned(presets.request("shape-churn", device="cuda"), Plan()))["walk.axis"] == "none"


def test_a_memory_that_nobody_knows_beforehand_is_none() -> None:
    workload = presets.request("decoder-end-to-end", device="cpu").trials[0].workload
    assert estimates.peak_memory(workload, ["eager"]) is None


def _from_terminal(command: str | None) -> JobRequest:
    import argparse
    import shlex

    assert command is not None
    parser = argparse.ArgumentParser()
    add_request_arguments(parser)
    return build_request(parser.parse_args(shlex.split(command.replace("\\\n", ""))[2:]))
