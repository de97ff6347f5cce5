"""Structural matches: which kernel stands for which where names differ, what stays open, and how far it is bounded."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.comparison.traces import alignment
from profiles.comparison.traces.alignment import Aligned, align
from profiles.comparison.traces.document import Ground, Match, MatchedKernel, Matching
from profiles.comparison.traces.matching import match
from profiles.trace.contents import Caller, SeenKernel, TraceContents, Work, contents
from profiles.trace.model import Slices, Trace
from profiles.trace.read import read_trace
from profiles.trace.roles import role_of
from profiles.trace.summary import TraceSummary, summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]
Calls = Sequence[tuple[str | None, Sequence[str]]]  # an operator's call and the kernels that it launches, in order


@dataclass(frozen=True, slots=True)
class Held:
    key: str
    label: str
    summary: TraceSummary
    contents: TraceContents | None


Make = Callable[[str, Calls], Held]
NOTHING = summarise(Trace("", (), (), Slices(*[np.zeros(0, np.int64)] * 7), (), (), 0))


@pytest.fixture
def make(draft: Draft, read_draft: ReadDraft) -> Make:
    """A step of operator calls, each kernel 5 µs long, in A, 7 in other traces."""

    def written(key: str, calls: Calls) -> Held:
        fresh = type(draft)()
        fresh.add("user_annotation", "ProfilerStep#1", 0, 1_000 * len(calls))
        correlation = 0
        for place, (operator, kernels) in enumerate(calls):
            start = 1_000 * place
            if operator:
                fresh.operator(operator, start + 1, 900)
            for kernel in kernels:
                correlation += 1
                fresh.launched(
                    start + 20 * correlation % 800 + 5, correlation, name=kernel, duration=5 if key == "A" else 7
                )
        trace = read_draft(fresh)
        return Held(key, key, summarise(trace), contents(trace))

    return written


def matched(one: Held, other: Held) -> Matching:
    found = match(one, other)
    assert found is not None
    return found


def sides(found: Match) -> tuple[list[str], list[str]]:
    return [kernel.name for kernel in found.baseline], [kernel.name for kernel in found.candidate]


NVIDIA = [
    ("aten::embedding", ["indexSelectLargeIndex"]),
    *[("aten::linear", ["sm90_xmma_gemm_bf16"]), ("aten::gelu", ["gelu_kernel<4>"])] * 3,
    ("aten::scaled_dot_product_attention", ["flash_fwd_kernel"]),
]
AMD = [
    ("aten::embedding", ["indexSelectLargeIndex"]),
    *[("aten::linear", ["Cijk_Alik_Bljk"]), ("aten::gelu", ["gelu_kernel<8>"])] * 3,
    ("aten::scaled_dot_product_attention", ["FillFunctor_elementwise", "attn_fwd"]),
]


def test_kernels_of_one_operator_at_one_place_stand_for_each_other(make: Make) -> None:
    found = matched(make("A", NVIDIA), make("B", AMD))
    by_operator = {one.operator: one for one in found.matches}
    linear = by_operator["aten::linear"]
    assert (linear.ground, linear.places, sides(linear)) == (
        Ground.OPERATOR,
        3,
        (["sm90_xmma_gemm_bf16"], ["Cijk_Alik_Bljk"]),
    )
    assert (linear.time.baseline.value, linear.time.candidate.value, linear.time.ratio) == (15_000, 21_000, 1.4)
    assert by_operator["aten::embedding"].ground is Ground.NAME
    assert (found.baseline.matched, found.baseline.kernels) == (8, 8)
    assert (found.candidate.matched, found.candidate.kernels) == (9, 9)
    assert {one.operator: one.places for one in found.operators} == {
        "aten::linear": 3,
        "aten::gelu": 3,
        "aten::embedding": 1,
        "aten::scaled_dot_product_attention": 1,
    }


def test_one_kernel_may_face_several_of_the_same_call(make: Make) -> None:
    found = matched(make("A", NVIDIA), make("B", AMD))
    attention = next(one for one in found.matches if one.operator == "aten::scaled_dot_product_attention")
    assert sides(attention) == (["flash_fwd_kernel"], ["FillFunctor_elementwise", "attn_fwd"])
    assert attention.time.ratio == 14_000 / 5_000


def test_what_only_one_side_does_is_left_over(make: Make) -> None:
    more = [*NVIDIA, ("aten::softmax", ["softmax_warp_forward"])]
    found = matched(make("A", NVIDIA), make("B", more))
    assert [(kernel.name, kernel.calls) for kernel in found.candidate.unmatched] == [("softmax_warp_forward", 1)]
    assert (found.baseline.unmatched, found.candidate.matched) == ((), 8)


def test_what_could_as_well_be_another_stays_open(make: Make) -> None:
    """One gemm here, two different ones there: which of them it became cannot be told."""
    here = [("aten::a", ["first_norm"]), ("aten::mm", ["gemm_x"]), ("aten::z", ["last_relu"])]
    there = [here[0], ("aten::mm", ["gemm_y"]), ("aten::mm", ["gemm_z"]), here[2]]
    found = matched(make("A", here), make("B", there))
    assert found.ambiguous == 1
    assert [kernel.name for kernel in found.baseline.unmatched] == ["gemm_x"]
    assert {kernel.name for kernel in found.candidate.unmatched} == {"gemm_y", "gemm_z"}


def test_of_equal_repetitions_any_may_be_paired(make: Make) -> None:
    """One layer more: which of them is the further one makes no difference."""
    layer = [("aten::linear", ["gemm_x"]), ("aten::gelu", ["gelu_kernel"])]
    found = matched(make("A", [*layer] * 2), make("B", [*layer] * 3))
    assert (found.ambiguous, found.baseline.matched, found.candidate.matched) == (0, 4, 4)


def test_a_role_alone_counts_beside_surer_matches_only(make: Make) -> None:
    anchored = matched(
        make("A", [(None, ["same_norm"]), (None, ["gemm_x"]), (None, ["other_softmax"])]),
        make("B", [(None, ["same_norm"]), (None, ["Cijk_y"])]),
    )
    assert [(one.ground, sides(one)) for one in anchored.matches] == [
        (Ground.NAME, (["same_norm"], ["same_norm"])),
        (Ground.ROLE, (["gemm_x"], ["Cijk_y"])),
    ]
    alone = matched(make("A", [(None, ["gemm_x"]), (None, ["a_norm"])]), make("B", [(None, ["Cijk_y"])]))
    assert (alone.matches, alone.baseline.matched) == ((), 0)


def test_a_fusion_across_operators_is_matched_by_its_module(make: Make) -> None:
    """`Mlp` runs three kernels here and one there; without the module nothing says that they belong together."""
    here = [("aten::norm", ["layer_norm"])]
    here += [(f"aten::{name}", [f"{name}_kernel"]) for name in ("mul", "silu", "add")]
    there = [("aten::norm", ["layer_norm"]), ("fused", ["fused_mlp_forward"])]
    one, other = make("A", [*here, ("aten::z", ["last_copy"])]), make("B", [*there, ("aten::z", ["last_copy"])])
    assert matched(one, other).baseline.matched == 2
    within = [in_module(held, {"mul", "silu", "add", "fused"}) for held in (one, other)]
    found = matched(*within)
    fused = next(match for match in found.matches if match.ground is Ground.MODULE)
    assert sides(fused) == (["mul_kernel", "silu_kernel", "add_kernel"], ["fused_mlp_forward"])
    assert fused.module == "Mlp"
    assert (found.baseline.matched, found.candidate.matched) == (5, 3)


UNFUSED = [("aten::linear", ["gemm_x"]), ("aten::silu", ["silu_kernel"]), ("aten::linear", ["gemm_x"])]
FUSED = [("aten::mm", ["gemm_x"]), ("aten::mm", ["gemm_x"]), (None, ["triton_poi_fused_mul_silu_0"])]


def test_a_generated_kernel_stands_for_the_operators_that_it_names(make: Make) -> None:
    """Also where one of them runs ahead of a kernel that both sides have."""
    rest: Calls = [("aten::linear", ["gemm_x"])]
    found = matched(make("A", [*UNFUSED, ("aten::mul", ["mul_kernel"]), *rest]), make("B", [*FUSED, *rest]))
    assert [(one.ground, one.places, sides(one)) for one in found.matches] == [
        (Ground.NAME, 2, (["gemm_x"], ["gemm_x"])),  # of mm over there
        (Ground.FUSED, 1, (["silu_kernel", "mul_kernel"], ["triton_poi_fused_mul_silu_0"])),
        (Ground.NAME, 1, (["gemm_x"], ["gemm_x"])),
    ]
    back = matched(make("A", [*FUSED, *rest]), make("B", [*UNFUSED, ("aten::mul", ["mul_kernel"]), *rest]))
    assert {one.ground for one in back.matches} == {Ground.NAME, Ground.FUSED}
    assert back.candidate.unmatched == ()


def test_a_generated_kernel_stands_for_nothing_where_more_is_left_over_than_it_names(make: Make) -> None:
    more: Calls = [("aten::mul", ["mul_kernel"]), ("aten::softmax", ["softmax_warp_forward"])]
    found = matched(make("A", [*UNFUSED, *more]), make("B", FUSED))
    assert Ground.FUSED not in {one.ground for one in found.matches}
    assert [kernel.name for kernel in found.candidate.unmatched] == ["triton_poi_fused_mul_silu_0"]


def test_between_the_same_neighbours_several_stand_for_one_if_most_is_paired(make: Make) -> None:
    around: Calls = [("aten::linear", ["gemm_x"]), ("aten::add", ["add_kernel"]), ("aten::norm", ["layer_norm"])]
    eager: Calls = [("aten::bmm", ["gemm_s"]), ("aten::softmax", ["softmax_warp_forward"]), ("aten::bmm", ["gemm_v"])]
    one, other = make("A", [*around, *eager, *around]), make("B", [*around, ("x::attn", ["flash_fwd"]), *around])
    found = matched(one, other)
    between = next(match for match in found.matches if match.ground is Ground.BETWEEN)
    assert sides(between) == (["gemm_s", "softmax_warp_forward", "gemm_v"], ["flash_fwd"])
    assert found.baseline.unmatched == ()
    alone = matched(make("A", [*around[:1], *eager]), make("B", [*around[:1], ("x::attn", ["flash_fwd"])]))
    assert alone.baseline.matched == 1  # one in four says nothing of its neighbours


def in_module(held: Held, operators: set[str]) -> Held:
    """The same, with the calls of these operators within a module."""
    assert held.contents is not None
    callers = tuple(
        Caller(operators=caller.operators, module="Mlp" if caller.operators[-1].split("::")[-1] in operators else None)
        for caller in held.contents.callers
    )
    return Held(held.key, held.label, held.summary, msgspec.structs.replace(held.contents, callers=callers))


def test_nothing_is_matched_with_nothing(make: Make) -> None:
    assert match(make("A", NVIDIA), make("B", [])) is None


def told_of(found: Matching) -> tuple[object, ...]:
    """All that does not go by who is the baseline; equally large matches come in any order."""
    matches = [
        (one.ground, one.places, one.module, told_of_side(one.baseline), told_of_side(one.candidate))
        for one in found.matches
    ]
    return found.steps, found.baseline, found.candidate, Counter(matches), found.ambiguous, found.cut


def told_of_side(kernels: Sequence[MatchedKernel]) -> tuple[MatchedKernel, ...]:
    return tuple(sorted(kernels, key=lambda kernel: kernel.name))


def turned(found: Matching) -> Matching:
    return msgspec.structs.replace(
        found,
        steps=found.steps[::-1],
        baseline=found.candidate,
        candidate=found.baseline,
        matches=tuple(
            msgspec.structs.replace(one, baseline=one.candidate, candidate=one.baseline) for one in found.matches
        ),
    )


NAMES = (
    "gemm_a",
    "gemm_b",
    "triton_poi_fused_add_mul_0",
    "softmax_x",
    "elementwise_kernel<1>",
    "elementwise_kernel<2>",
    "?",
)
OPERATORS = (None, "aten::mm", "aten::add", "aten::mul")
PLACES = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(OPERATORS), st.sampled_from((None, "Net_0", "Net_1")), st.booleans()
)


def drawn(places: Sequence[tuple[str, str | None, str | None, bool]]) -> Held:
    """Each kernel with the operator and the module around it, in a call with the one before it or not; the nth takes
    n ns."""
    names = sorted({name for name, *_ in places})
    kernels = tuple(
        SeenKernel(
            name=name, short_name=name, role=role_of(name), calls=1, total_ns=1, min_ns=1, p50_ns=1, p95_ns=1, max_ns=1
        )
        for name in names
    )
    instances: list[str] = []
    instance_of: list[int] = []
    for _, operator, _, with_the_last in places:
        if operator is not None and not (
            with_the_last and instances and instances[-1] == operator and instance_of[-1] >= 0
        ):
            instances.append(operator)
        instance_of.append(-1 if operator is None else len(instances) - 1)
    held = TraceContents(
        kernels=kernels,
        whole=Work(kernels=len(places), copies=0, fills=0, launches=len(places), graph_launches=0),
        sequence=tuple(names.index(name) for name, *_ in places),
        durations_ns=tuple(range(1, len(places) + 1)),
        callers=tuple(
            Caller(operators=(operator,) if operator else (), module=module) for _, operator, module, _ in places
        ),
        caller_of=tuple(range(len(places))),
        instances=tuple(instances),
        instance_of=tuple(instance_of),
    )
    return Held("A", "A", NOTHING, held)


@settings(max_examples=400, deadline=None)
@given(one=st.lists(PLACES, min_size=1, max_size=12), other=st.lists(PLACES, min_size=1, max_size=12))
def test_matches_are_the_same_whoever_is_the_baseline(one: list[Any], other: list[Any]) -> None:
    first, second = drawn(one), drawn(other)
    assert told_of(matched(second, first)) == told_of(turned(matched(first, second)))


@pytest.mark.parametrize(
    "names", [("15_h100", "16_mi300x"), ("17_h100", "18_mi300x"), ("01_a100", "13_mi250"), ("15_h100", "17_h100")]
)
def test_matches_of_public_traces_are_the_same_whoever_is_the_baseline(
    public_traces: Path, names: tuple[str, str]
) -> None:
    traces = [read_trace(next(public_traces.glob(f"{name}*.json.gz"))) for name in names]
    one, other = (Held(key, key, summarise(trace), contents(trace)) for key, trace in zip("AB", traces, strict=True))
    assert told_of(matched(other, one)) == told_of(turned(matched(one, other)))


def score_of(one: Sequence[int], other: Sequence[int]) -> alignment.Score:
    return lambda at, low, high: np.array([worth(one[at], value) for value in other[low : high + 1]], np.int32)


def worth(one: int, other: int) -> int:
    if one == other:
        return 16
    return 8 if one // 2 == other // 2 else 2 if one % 2 == other % 2 else 0


def aligned(one: Sequence[int], other: Sequence[int]) -> Aligned:
    return align(score_of(one, other), (np.array(one, np.int64), np.array(other, np.int64)))


def best_alignments(one: Sequence[int], other: Sequence[int]) -> tuple[int, list[tuple[tuple[int, int], ...]]]:
    """All of the highest worth, found by trying every one."""
    best = 0
    found: list[tuple[tuple[int, int], ...]] = [()]

    def go(at: int, column: int, total: int, pairs: tuple[tuple[int, int], ...]) -> None:
        nonlocal best, found
        if at == len(one):
            if total >= best:
                found = [*found, pairs] if total == best else [pairs]
                best = total
            return
        go(at + 1, column, total, pairs)
        for place in range(column, len(other)):
            if points := worth(one[at], other[place]):
                go(at + 1, place + 1, total + points, (*pairs, (at, place)))

    go(0, 0, 0, ())
    return best, found


values = st.lists(st.integers(0, 4), max_size=5)


@given(one=values, other=values)
@settings(max_examples=150, deadline=None)
def test_an_alignment_is_the_best_and_knows_what_is_ambiguous(one: list[int], other: list[int]) -> None:
    found = aligned(one, other)
    pairs = sorted((*found.pairs, *found.ambiguous))
    best, all_best = best_alignments(one, other)
    assert sum(worth(one[at], other[place]) for at, place in pairs) == best
    for at, place in pairs:
        partners = {other[q] for each in all_best for p, q in each if p == at}
        facing = {one[p] for each in all_best for p, q in each if q == place}
        assert ((at, place) in found.ambiguous) == (len(partners) > 1 or len(facing) > 1)


@given(one=st.lists(st.integers(0, 4), max_size=14), other=st.lists(st.integers(0, 4), max_size=14))
@settings(max_examples=60, deadline=None)
def test_within_a_band_pairs_still_rise_and_may_be_paired(one: list[int], other: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "MOST_CELLS", 12)
        found = aligned(one, other)
    pairs = sorted((*found.pairs, *found.ambiguous))
    assert all(at < after[0] and place < after[1] for (at, place), after in pairwise(pairs))
    assert all(worth(one[at], other[place]) for at, place in pairs)


def test_thousands_of_kernels_are_laid_side_by_side_in_bounded_work() -> None:
    """8,000 against 8,000 would be 64 million cells; a band of 6 million still finds what has moved a little."""
    one = np.arange(8_000) % 41
    other = np.delete(one, np.arange(0, 8_000, 97))
    looked_at = 0

    def score(at: int, low: int, high: int) -> alignment.Scores:
        nonlocal looked_at
        looked_at += high - low + 1
        return np.where(other[low : high + 1] == one[at], 16, 0).astype(np.int32)

    assert len(align(score, (one, other)).pairs) == len(other)
    assert looked_at < 4 * alignment.MOST_CELLS


def raw_operators(path: Path) -> tuple[Counter[str], dict[str, int]]:
    """Kernels of ProfilerStep#6, and their ns, by the outermost operator around their launch; from raw JSON alone."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    (mark,) = [e for e in events if e.get("name") == "ProfilerStep#6" and e.get("cat") == "user_annotation"]
    calls = {
        e["args"]["correlation"]: e for e in events if "Launch" in e.get("name", "") and "correlation" in e["args"]
    }
    outermost = _outermost([e for e in events if e.get("cat") == "cpu_op"])
    counted: Counter[str] = Counter()
    times: dict[str, int] = {}
    for kernel in (e for e in events if e.get("cat") == "kernel"):
        call = calls.get(kernel["args"]["correlation"])
        if call is not None and mark["ts"] <= call["ts"] < mark["ts"] + mark["dur"]:
            starts, found = outermost[call["tid"]]
            operator = found[bisect_right(starts, call["ts"]) - 1]
            assert operator["ts"] <= call["ts"] < operator["ts"] + operator["dur"]
            counted[operator["name"]] += 1
            times[operator["name"]] = times.get(operator["name"], 0) + round(kernel["dur"] * 1000)
    return counted, times


def _outermost(operators: list[dict[str, Any]]) -> dict[Any, tuple[list[float], list[dict[str, Any]]]]:
    by_thread: dict[Any, tuple[list[float], list[dict[str, Any]]]] = {}
    for operator in sorted(operators, key=lambda one: (one["ts"], -one["dur"])):
        starts, found = by_thread.setdefault(operator["tid"], ([], []))
        if not found or operator["ts"] >= found[-1]["ts"] + found[-1]["dur"]:
            starts.append(operator["ts"])
            found.append(operator)
    return by_thread


@pytest.mark.parametrize(
    ("names", "kernels"),
    [
        (("15_h100_bert_small_infer.json.gz", "16_mi300x_bert_small_infer.json.gz"), (60, 60)),
        (("17_h100_qwen05b_decode_orphans.json.gz", "18_mi300x_qwen05b_decode_orphans.json.gz"), (1_029, 1_053)),
    ],
)
def test_public_pairs_of_two_vendors_are_matched_operator_by_operator(
    public_traces: Path, names: tuple[str, str], kernels: tuple[int, int]
) -> None:
    raw = [raw_operators(public_traces / name) for name in names]
    traces = [read_trace(public_traces / name) for name in names]
    held = [Held(key, key, summarise(trace), contents(trace)) for key, trace in zip("AB", traces, strict=True)]
    found = matched(held[0], held[1])
    assert (found.baseline.matched, found.candidate.matched) == kernels
    assert (found.ambiguous, found.cut, found.baseline.unmatched) == (0, 0, ())
    times = {one.operator: (one.time.baseline.value, one.time.candidate.value) for one in found.operators}
    assert times == {name: (raw[0][1][name], raw[1][1][name]) for name in raw[0][1]}
    for operator in raw[0][0]:
        of_operator = [one for one in found.matches if one.operator == operator]
        assert sum(kernel.calls for one in of_operator for kernel in one.baseline) == raw[0][0][operator]
        assert sum(kernel.calls for one in of_operator for kernel in one.candidate) == raw[1][0][operator]


def test_traces_of_different_models_have_next_to_nothing_in_common(public_traces: Path) -> None:
    """A ResNet's training on an MI210 without operators, and a language model's decoding in a graph."""
    names = ("25_mi210_gpu_only_no_cpu_ops.json.gz", "21_mi300x_sglang_decode_hipgraph.json.gz")
    traces = [read_trace(public_traces / name) for name in names]
    held = [Held(key, key, summarise(trace), contents(trace)) for key, trace in zip("AB", traces, strict=True)]
    found = matched(held[0], held[1])
    assert found.baseline.matched_ns < found.baseline.total_ns / 50
    again = matched(held[0], held[1])
    assert again == found
