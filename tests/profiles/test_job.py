"""Which walks a job may ask for."""

from __future__ import annotations

import msgspec
import pytest

from profiles import catalog, presets
from profiles.job import JobError, JobRequest, check_job
from profiles.plan import PlanError, Walk
from profiles.workload import AxisValue


def _walking(walk: Walk, **axes: AxisValue) -> JobRequest:
    """The attention ladder on a CPU with this walk, and other axes."""
    request = presets.request("attention-ladder", device="cpu")
    (trial,) = request.trials
    workload = msgspec.structs.replace(trial.workload, axes={**trial.workload.axes, **axes})
    return msgspec.structs.replace(
        request,
        trials=(msgspec.structs.replace(trial, workload=workload),),
        plan=msgspec.structs.replace(request.plan, walk=walk),
    )


def _refused(walk: Walk, **axes: AxisValue) -> str:
    with pytest.raises(JobError) as refused:
        check_job(_walking(walk, **axes))
    return str(refused.value)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_preset_can_be_a_job(device: str) -> None:
    for preset in presets.PRESETS:
        check_job(presets.request(preset.name, device=device))


def test_a_walk_along_the_lengths_is_accepted() -> None:
    check_job(_walking(Walk(axis="seq_kv", last=600)))
    check_job(_walking(Walk(axis="seq_q", last=600, step=7)))


def test_an_axis_that_the_operation_lacks_is_refused_with_those_that_it_has() -> None:
    assert _refused(Walk(axis="rows", last=600)) == (
        "the walk's axis is 'rows'; attention can walk one of "
        "'batch', 'heads', 'kv_heads', 'seq_q', 'seq_kv', 'head_dim'"
    )


def test_an_axis_that_is_no_number_is_refused() -> None:
    assert "the walk's axis is 'causal'" in _refused(Walk(axis="causal", last=1))


def test_a_walk_that_ends_before_it_begins_is_refused() -> None:
    assert _refused(Walk(axis="seq_kv", last=511)) == "the walk's last seq_kv is 511, before its first, 512"


def test_a_walk_of_one_value_is_accepted_and_one_of_too_many_refused() -> None:
    check_job(_walking(Walk(axis="seq_kv", last=512)))
    check_job(_walking(Walk(axis="seq_kv", last=512 + 4095)))
    assert "visits 4,097 values of seq_kv; accepted are at most 4,096" in _refused(Walk(axis="seq_kv", last=512 + 4096))


def test_a_value_that_the_operation_cannot_take_is_named() -> None:
    told = _refused(Walk(axis="kv_heads", last=4), kv_heads=2)
    assert told == "the walk at kv_heads 3: kv_heads is 3, which does not divide heads, 8"


def test_a_step_below_one_is_no_walk() -> None:
    with pytest.raises(PlanError, match="the walk's step is 0"):
        Walk(axis="seq_kv", last=600, step=0)


def test_an_axis_that_is_as_large_goes_along_with_the_walked_one() -> None:
    workload = presets.request("attention-ladder", device="cpu").trials[0].workload
    longer = catalog.at(workload, "seq_q", 513)
    assert (longer.axes["seq_q"], longer.axes["seq_kv"], longer.axes["heads"]) == (513, 513, 8)
    decoded = catalog.at(catalog.at(workload, "seq_q", 1), "seq_kv", 512)
    assert catalog.at(decoded, "seq_q", 2).axes["seq_kv"] == 512


def test_three_questions_stand_on_start() -> None:
    assert [preset.name for preset in presets.PRESETS if preset.on_start] == [
        "attention-ladder",
        "fusion-pairs",
        "decoder-end-to-end",
    ]
