"""Two traces and more side by side: counts, roles, kernels by name, the answer and its caveat. Obvious answers."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.commands.traces_text import described
from profiles.comparison.traces.answer import answer
from profiles.comparison.traces.caveat import caveat
from profiles.comparison.traces.compared import compared
from profiles.comparison.traces.difference import compare
from profiles.comparison.traces.document import (
    Change,
    ComparedTraces,
    Figure,
    KernelDifference,
    Side,
    TraceDifference,
    What,
)
from profiles.comparison.traces.entry import Basis, vendor_of
from profiles.comparison.traces.figures import covered
from profiles.comparison.traces.gate import FailOn, GateError, failures
from profiles.results import Role
from profiles.trace.contents import TraceContents, contents
from profiles.trace.errors import TraceError
from profiles.trace.model import Trace
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]
Steps = Sequence[Sequence[tuple[str, float]]]  # by step the kernels launched, with their µs
Held = Callable[..., "HeldTrace"]


@dataclass(frozen=True, slots=True)
class HeldTrace:
    key: str
    label: str
    summary: TraceSummary
    contents: TraceContents | None


def of(trace: Trace, key: str) -> HeldTrace:
    return HeldTrace(key, f"{key.lower()}.json", summarise(trace), contents(trace))


@pytest.fixture
def held(draft: Draft, read_draft: ReadDraft) -> Held:
    """A trace whose steps launch these kernels."""

    def make(
        key: str, steps: Steps, *, call: str = "cudaLaunchKernel", marked: bool = True, device: str | None = None
    ) -> HeldTrace:
        written = type(draft)()
        if device is not None:
            written.surroundings["deviceProperties"] = [{"id": 0, "name": device}]
        correlation = 0
        for number, kernels in enumerate(steps):
            start = 10_000 * number
            if marked:
                written.add("user_annotation", f"ProfilerStep#{number}", start, 9_000)
            for name, duration in kernels:
                correlation += 1
                written.call(call, start + 20 * correlation % 8_000 + 1, correlation)
                written.gpu(start + 20 * correlation % 8_000 + 10, duration, correlation, name=name)
        return of(read_draft(written), key)

    return make


def changes(found: TraceDifference) -> dict[str, Change]:
    return {kernel.name: kernel.change for kernel in found.kernels}


def named(found: TraceDifference, name: str) -> KernelDifference:
    return next(kernel for kernel in found.kernels if kernel.name == name)


def counts(found: TraceDifference) -> dict[What, tuple[int | None, int | None, int | None]]:
    return {one.what: (one.baseline.value, one.candidate.value, one.difference) for one in found.counts}


BASE = [[("gemm", 10), ("softmax", 4), ("gelu_kernel", 2), ("gelu_kernel", 2), ("norm_kernel", 3)]]
FUSED = [[("gemm", 10.2), ("fused_attention", 3), ("gelu_kernel", 2), ("norm_kernel", 6)]]


def test_kernels_are_added_vanished_changed_or_equal(held: Held) -> None:
    found = compare(held("A", BASE), held("B", FUSED))
    assert found.basis is Basis.STEP
    assert changes(found) == {
        "gemm": Change.EQUAL,  # within 5 %
        "softmax": Change.VANISHED,
        "fused_attention": Change.ADDED,
        "gelu_kernel": Change.CHANGED,  # in calls
        "norm_kernel": Change.CHANGED,  # in time
    }
    assert [kernel.name for kernel in found.kernels[:2]] == ["softmax", "norm_kernel"]  # by the difference of time
    gelu = named(found, "gelu_kernel")
    assert (gelu.calls.baseline.value, gelu.calls.candidate.value, gelu.calls.difference) == (2, 1, -1)
    assert (gelu.time.difference_ns, gelu.time.ratio, gelu.per_call_ratio) == (-2_000, 0.5, 1.0)
    added = named(found, "fused_attention")
    assert (added.calls.baseline.value, added.time.baseline.value, added.time.ratio) == (0, 0, None)
    assert counts(found)[What.KERNELS] == (5, 4, -1)
    assert counts(found)[What.LAUNCHES] == (5, 4, -1)
    assert (found.kernel_time.baseline.value, found.kernel_time.candidate.value) == (21_000, 21_200)


def test_time_is_told_by_role(held: Held) -> None:
    found = compare(held("A", BASE), held("B", FUSED))
    roles = {role.role: (role.kernels.difference, role.time.difference_ns) for role in found.roles}
    assert roles == {
        Role.GEMM: (0, 200),
        Role.SOFTMAX: (-1, -4_000),
        Role.ATTENTION: (1, 3_000),
        Role.POINTWISE: (-1, -2_000),
        Role.NORM: (0, 3_000),
    }


def test_figures_are_the_middle_step_with_the_bounds_of_all(held: Held) -> None:
    base = held("A", [[("k", 5)], [("k", 9)], [("k", 6)], []])  # a mark after the last step
    found = compare(base, held("B", [[("k", 7)]]))
    time = named(found, "k").time
    assert (time.baseline.value, time.baseline.low, time.baseline.high) == (6_000, 5_000, 9_000)
    assert changes(found) == {"k": Change.EQUAL}  # 7 µs lies within the spread
    assert counts(found)[What.KERNELS] == (1, 1, 0)
    assert found.counts[0].baseline.doubt is None
    assert failures(found, frozenset(FailOn)) == ()
    assert compared([base, held("B", [[("k", 7)]])]).traces[0].steps == 3


def test_unstable_counts_are_marked_and_told(held: Held) -> None:
    base = held("A", [[("k", 5)] * 3, [("k", 5)] * 2, [("k", 5)] * 3])
    found = compare(base, held("B", [[("k", 5)] * 3]))
    kernels = found.counts[0].baseline
    assert (kernels.value, kernels.low, kernels.high) == (3, 2, 3)
    assert kernels.doubt is not None
    assert "3, 2, 3" in kernels.doubt
    assert named(found, "k").calls.baseline.doubt == "unstable: 3, 2, 3 in its steps"
    warning = caveat([base, held("B", [[("k", 5)] * 3])])
    assert warning is not None
    assert warning.label == "Unstable counts"
    with pytest.raises(GateError, match="2 to 3 kernels"):
        failures(found, frozenset(FailOn))


def test_spill_over_is_in_no_step_and_in_no_difference(draft: Draft, read_draft: ReadDraft, held: Held) -> None:
    draft.gpu(1, 5, 1, name="of an earlier step")
    draft.add("user_annotation", "ProfilerStep#1", 100, 100)
    draft.launched(110, 7, name="k", duration=5)
    found = compare(of(read_draft(draft), "A"), held("B", [[("k", 5)]]))
    assert changes(found) == {"k": Change.EQUAL}
    assert found.counts[0].baseline.doubt is None


def test_without_steps_on_one_side_whole_recordings_are_compared_and_said_to_be(held: Held) -> None:
    base, other = held("A", [*BASE, *BASE]), held("B", FUSED, marked=False)
    found = compare(base, other)
    assert (found.basis, found.basis_reason) == (Basis.WHOLE, "B: no steps are marked in it")
    assert counts(found)[What.KERNELS] == (10, 4, -6)
    warning = caveat([base, other])
    assert warning is not None
    assert warning.label == "Whole recordings"
    with pytest.raises(GateError, match="no steps are marked"):
        failures(found, frozenset({FailOn.ADDED}))


def test_a_recording_that_lost_its_gpu_records_is_unknown_not_0(
    draft: Draft, read_draft: ReadDraft, held: Held
) -> None:
    draft.launch(10, 1)
    lost = of(read_draft(draft), "B")
    traces = [held("A", BASE), lost]
    told = compared(traces)
    difference = told.differences[0]
    assert difference.kernels == difference.roles == ()
    assert counts(difference)[What.KERNELS] == (5, None, None)
    assert difference.kernel_time.ratio is None
    assert told.answer == "a.json recorded 5 kernels; those of b.json cannot be told."
    assert told.caveat is not None
    assert told.caveat.startswith("Records are missing: The kernels of b.json cannot be told: 1 launch, but no GPU")


def test_another_vendors_counts_carry_no_verdict(held: Held) -> None:
    amd = held("B", FUSED, call="hipLaunchKernel")
    assert (vendor_of(held("A", BASE)), vendor_of(amd)) == ("NVIDIA", "AMD")
    found = compare(held("A", BASE), amd)
    assert found.incomparable is not None
    assert counts(found)[What.KERNELS] == (5, 4, -1)  # still told
    with pytest.raises(GateError, match="no verdict"):
        failures(found, frozenset({FailOn.KERNELS}))


def test_of_two_models_of_one_vendor_it_is_said_which_is_which_and_counts_are_judged(held: Held) -> None:
    a100, h100 = held("A", BASE, device="NVIDIA A100-SXM4"), held("B", FUSED, device="NVIDIA  H100\x1b")
    said = r"A was recorded on NVIDIA A100-SXM4, B on NVIDIA H100\x1b: their times compare the devices too"
    told = compared([a100, h100])
    assert (told.differences[0].incomparable, told.differences[0].other_devices) == (None, said)
    assert told.caveat == f"Two models: {said}."
    assert f"{said}." in described(told)
    assert failures(told.differences[0], frozenset({FailOn.KERNELS})) == ("kernels: 5 → 4 per step",)
    back = compare(h100, a100)
    assert back.other_devices is not None
    assert back.other_devices.startswith(r"B was recorded on NVIDIA H100\x1b, A on NVIDIA A100-SXM4")


@pytest.mark.parametrize("device", ["NVIDIA A100-SXM4", " NVIDIA A100-SXM4 ", ""])
def test_equal_and_unknown_models_are_not_said_to_differ(held: Held, device: str) -> None:
    found = compare(held("A", BASE, device="NVIDIA A100-SXM4"), held("B", FUSED, device=device))
    assert found.other_devices is None


def test_of_two_vendors_it_is_not_said_again_that_the_models_differ(held: Held) -> None:
    amd = held("B", FUSED, call="hipLaunchKernel", device="AMD Instinct MI300X")
    assert compare(held("A", BASE, device="NVIDIA A100-SXM4"), amd).other_devices is None


def test_the_answer_says_counts_time_names_and_where_most_of_the_difference_is(held: Held) -> None:
    traces = [held("A", BASE), held("B", FUSED)]
    assert answer(traces).text == (
        "b.json runs 4 kernels per step where a.json runs 5; its kernel time is 1.01× (21.2 µs against 21.0 µs)."
        " 1 kernel vanished, 1 is new and 1 kernel changed in calls; the largest difference is softmax: −4.0 µs."
    )
    assert answer(traces, "B").text.startswith("a.json runs 5 kernels per step where b.json runs 4;")
    assert answer([traces[0], HeldTrace("B", "a.json", traces[0].summary, traces[0].contents)]).text == (
        "a.json (B) runs 5 kernels per step, as a.json (A) does; its kernel time is 1.00× (21.0 µs against 21.0 µs)."
        " Both run the same kernels, equally often."
    )
    assert answer(traces[:1]).text == "Only a.json is here: nothing to compare it with."


def test_several_candidates_are_each_held_against_the_baseline(held: Held) -> None:
    traces = [held("A", BASE), held("B", FUSED), held("C", [[("gemm", 20)]])]
    told = compared(traces, "C", source=lambda trace: f"{trace.label}.gz")
    assert [(one.baseline, one.candidate) for one in told.differences] == [("C", "A"), ("C", "B")]
    assert [(one.key, one.baseline, one.source) for one in told.traces] == [
        ("A", False, "a.json.gz"),
        ("B", False, "b.json.gz"),
        ("C", True, "c.json.gz"),
    ]
    assert told.answer.count("kernels per step") == 2
    assert msgspec.json.decode(msgspec.json.encode(told), type=ComparedTraces) == told


def test_too_few_too_many_or_an_unknown_baseline_are_refused(held: Held) -> None:
    one = held("A", BASE)
    for number in (0, 1, 9):
        with pytest.raises(ValueError, match=f"{number} traces; expected 2 to 8"):
            compared([one] * number)
    with pytest.raises(ValueError, match="no trace has the key 'Z'; expected one of A, A"):
        compared([one, one], "Z")


def test_traces_stored_before_there_were_contents_are_compared_by_their_summaries(held: Held) -> None:
    old = msgspec.structs.replace(held("A", BASE).summary)
    found = compare(HeldTrace("A", "old", old, None), held("B", FUSED))
    assert found.basis_reason == "A: its steps were not kept when it was stored"
    assert counts(found)[What.KERNELS] == (5, 4, -1)
    assert found.matching is None


def test_a_gate_fails_on_what_it_was_told_to_and_says_what_changed(held: Held) -> None:
    found = compare(held("A", BASE), held("B", FUSED))
    assert failures(found, frozenset({FailOn.ADDED})) == ("added, per step: fused_attention (1×)",)
    assert failures(found, frozenset({FailOn.VANISHED})) == ("vanished, per step: softmax (1×)",)
    assert failures(found, frozenset({FailOn.CALLS})) == ("calls, per step: gelu_kernel (2 → 1)",)
    assert failures(found, frozenset({FailOn.KERNELS})) == ("kernels: 5 → 4 per step",)
    assert failures(found, frozenset({FailOn.LAUNCHES})) == ("launches: 5 → 4 per step",)
    assert failures(found, frozenset({FailOn.MORE_KERNELS})) == ()
    lost = compare(held("A", FUSED), held("B", BASE))
    assert failures(lost, frozenset({FailOn.MORE_KERNELS})) == ("kernels: 4 → 5 per step",)
    same = compare(held("A", BASE), held("B", BASE))
    assert failures(same, frozenset(FailOn)) == ()


def test_a_gate_names_three_kernels_and_counts_the_rest(held: Held) -> None:
    found = compare(held("A", [[(name, time) for time, name in enumerate("abcde", 1)]]), held("B", [[("gemm", 1)]]))
    assert failures(found, frozenset({FailOn.VANISHED})) == ("vanished, per step: e (1×), d (1×), c (1×) and 2 more",)


def test_a_gate_does_not_judge_what_differs_from_step_to_step_though_the_sum_does_not(held: Held) -> None:
    steady = held("A", [[("k", 5), ("k", 5), ("l", 5)]] * 3)
    taking_turns = held(
        "B", [[("k", 5), ("k", 5), ("l", 5)], [("k", 5), ("l", 5), ("l", 5)], [("k", 5)] * 2 + [("l", 5)]]
    )
    found = compare(steady, taking_turns)
    assert failures(found, frozenset({FailOn.KERNELS, FailOn.ADDED})) == ()
    with pytest.raises(GateError, match=r"the steps of B call k 1 to 2 times"):
        failures(found, frozenset({FailOn.CALLS}))
    assert answer([steady, taking_turns]).text.endswith(" Both run the same kernels.")
    sometimes = held("B", [[("k", 5), ("k", 5), ("l", 5)], [("k", 5), ("k", 5), ("m", 5)], [("k", 5)] * 2 + [("l", 5)]])
    assert failures(compare(steady, sometimes), frozenset({FailOn.ADDED})) == ("added, per step: m (1×)",)


def test_a_gate_does_not_judge_launches_in_doubt(held: Held) -> None:
    base = held("A", BASE)
    found = compare(base, base)
    launches = next(one for one in found.counts if one.what is What.LAUNCHES)
    for doubted, words in (
        (Figure(value=5, low=5, high=6), "5 to 6 launches"),
        (Figure(value=5, doubt="lost"), "lost"),
    ):
        others = tuple(one for one in found.counts if one is not launches)
        told = msgspec.structs.replace(launches, candidate=doubted)
        with pytest.raises(GateError, match=words):
            failures(msgspec.structs.replace(found, counts=(*others, told)), frozenset({FailOn.LAUNCHES}))


DAMAGED = {  # by the public trace's mutation the kernels that are left of 14, None where it is refused
    "d02_truncated_gzip.json.gz": None,
    "d03_windows_backslash.json": 14,
    "d04_inf_bandwidth.json": 14,
    "d10_list_without_closing_bracket.json": 14,
    "d13_negative_dur.json": 13,
    "d14_events_twice.json": 14,
    "d21_traceEvents_null.json": None,
    "d26_missing_fields.json": 13,
}


def test_damaged_traces_are_compared_as_far_as_they_are_read(public_traces: Path) -> None:
    base = of(read_trace(public_traces / "13_mi250_minitoy_train_rocm62.json.gz"), "A")
    for name, kernels in DAMAGED.items():
        path = public_traces / "derived" / name
        if kernels is None:
            with pytest.raises(TraceError):
                read_trace(path)
            continue
        told = compared([base, of(read_trace(path), "B")])
        assert told.differences[0].counts[0].candidate.value == kernels, name
        assert told.differences[0].matching is not None
        assert told.differences[0].matching.candidate.matched == kernels, name
        damaged = told.differences[0].counts[0].candidate.doubt is not None
        assert damaged == (kernels != 14 or name.startswith(("d10", "d14"))), name
        assert msgspec.json.decode(msgspec.json.encode(told), type=ComparedTraces) == told


def test_hostile_names_stay_text(held: Held) -> None:
    hostile = "<script>alert(1)</script>\x1b[31m\u202e" + "x" * 9_000
    told = compared([held("A", [[(hostile, 3)]]), held("B", [[(hostile + "y", 3)]])])
    assert {kernel.change for kernel in told.differences[0].kernels} == {Change.ADDED, Change.VANISHED}
    assert all(kernel.short_name.isprintable() for kernel in told.differences[0].kernels)
    assert msgspec.json.decode(msgspec.json.encode(told), type=ComparedTraces) == told


def test_only_all_of_it_is_covered_by_100_percent() -> None:
    side = Side(kernels=1_467, matched=1_466, total_ns=99_445_000, matched_ns=99_442_000, unmatched=())
    assert covered(side) == "over 99 %"
    assert covered(msgspec.structs.replace(side, matched=1_467)) == "100 %"
    assert covered(msgspec.structs.replace(side, matched_ns=60_000_000)) == "60 %"
    assert covered(msgspec.structs.replace(side, total_ns=0, matched_ns=0, matched=978)) == "67 %"


kernel_names = st.sampled_from(["gemm", "softmax", "gelu_kernel", "norm_kernel", "copy_kernel", "odd"])
step_kernels = st.lists(st.tuples(kernel_names, st.integers(0, 40)), max_size=12)
all_steps = st.lists(step_kernels, max_size=3)


@given(steps=all_steps)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_trace_does_not_differ_from_itself(held: Held, steps: Steps) -> None:
    one = held("A", steps)
    found = compare(one, one)
    assert set(changes(found).values()) <= {Change.EQUAL}
    assert all(count.difference in (0, None) for count in found.counts)
    assert all(role.time.difference_ns == 0 for role in found.roles)
    if found.matching is not None:
        assert found.matching.baseline.matched == found.matching.baseline.kernels
        assert all(match.baseline == match.candidate for match in found.matching.matches)


@given(steps=all_steps, others=all_steps)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_swapping_sides_swaps_added_and_vanished(held: Held, steps: Steps, others: Steps) -> None:
    one, other = held("A", steps), held("B", others)
    there, back = compare(one, other), compare(other, one)
    swapped = {Change.ADDED: Change.VANISHED, Change.VANISHED: Change.ADDED}
    assert changes(there) == {name: swapped.get(change, change) for name, change in changes(back).items()}
    for ahead, behind in zip(there.counts, back.counts, strict=True):
        assert ahead.baseline == behind.candidate
        assert ahead.difference == (None if behind.difference is None else -behind.difference)
    assert (there.matching is None) == (back.matching is None)
    if there.matching is not None and back.matching is not None:
        assert there.matching.baseline.kernels == back.matching.candidate.kernels


def raw_step_kernels(path: Path, step: str) -> Counter[str]:
    """Kernels whose launch lies in the annotation, counted from the raw JSON alone."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    (mark,) = [e for e in events if e.get("name") == step and e.get("cat") == "user_annotation"]
    launched = {
        e["args"]["correlation"]: e["ts"]
        for e in events
        if e.get("cat", "").endswith(("runtime", "driver")) and re.search("Launch", e["name"])
    }
    inside = {number for number, ts in launched.items() if mark["ts"] <= ts < mark["ts"] + mark["dur"]}
    return Counter(e["name"] for e in events if e.get("cat") == "kernel" and e["args"].get("correlation") in inside)


@pytest.mark.parametrize(
    ("one", "other", "kernels"),
    [
        ("15_h100_bert_small_infer.json.gz", "16_mi300x_bert_small_infer.json.gz", (60, 60)),
        ("17_h100_qwen05b_decode_orphans.json.gz", "18_mi300x_qwen05b_decode_orphans.json.gz", (1_029, 1_053)),
    ],
)
def test_public_pairs_differ_as_their_raw_records_do(
    public_traces: Path, one: str, other: str, kernels: tuple[int, int]
) -> None:
    before, after = (raw_step_kernels(public_traces / name, "ProfilerStep#6") for name in (one, other))
    told = compared([of(read_trace(public_traces / name), key) for key, name in (("A", one), ("B", other))])
    found = told.differences[0]
    assert (before.total(), after.total()) == kernels
    assert counts(found)[What.KERNELS] == (*kernels, kernels[1] - kernels[0])
    assert {kernel.name for kernel in found.of(Change.ADDED)} == set(after - before) - set(before)
    assert {kernel.name for kernel in found.of(Change.VANISHED)} == set(before - after) - set(after)
    assert {k.name: (k.calls.baseline.value, k.calls.candidate.value) for k in found.kernels} == {
        name: (before[name], after[name]) for name in before | after
    }
    assert (found.incomparable is not None, told.caveat is not None) == (True, True)
    assert told.caveat is not None
    assert told.caveat.startswith("Two vendors: Counts carry no verdict")
