"""Which rank a trace is of, and what several ranks of one job say together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from profiles.comparison.traces.document import JobRanks
from profiles.comparison.traces.ranks import jobs
from profiles.trace.contents import TraceContents, contents
from profiles.trace.model import Trace
from profiles.trace.ranks import ProcessGroup
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]
NOON_US = 1_764_417_600_000_000  # 29 November 2025, 12:00 UTC
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


@dataclass(frozen=True, slots=True)
class Held:
    key: str
    label: str
    summary: TraceSummary
    contents: TraceContents | None


def held(trace: Trace, key: str) -> Held:
    return Held(key, f"rank{key}.json", summarise(trace), contents(trace))


def rank_trace(draft: Draft, rank: int, *, computes: float, start: float = NOON_US, world: int = 2) -> Draft:
    """Three steps of 1 ms: a gemm of `computes` µs, and an all-reduce from its end to 900 µs, 10 beside an add."""
    draft.surroundings["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    for number in range(3):
        at, correlation = start + 1_000 * number, 10 * number
        draft.add("user_annotation", f"ProfilerStep#{number}", at, 90)
        for place in (1, 2, 3):
            draft.launch(at + place, correlation + place)
        draft.gpu(at + 100, computes, correlation + 1, name="gemm")
        draft.gpu(at + 100 + computes, 900 - computes, correlation + 2, name=ALL_REDUCE, stream=20)
        draft.gpu(at + 100 + computes, 10, correlation + 3, name="add_elementwise_kernel")
    return draft


@pytest.fixture
def drafts(draft: Draft) -> Callable[[], Draft]:
    return type(draft)


def test_a_rank_is_read_with_its_groups_and_when_it_ran(draft: Draft, read_draft: ReadDraft) -> None:
    draft.surroundings |= {
        "host_name": "node-7",
        "baseTimeNanoseconds": NOON_US * 1000,
        "distributedInfo": {
            "backend": "nccl",
            "rank": 1,
            "world_size": 4,
            "pg_config": [{"pg_name": "0", "backend_config": "cuda:nccl", "pg_size": 4, "ranks": [0, 1, 2, 3]}],
        },
    }
    draft.launched(10, 1, duration=5)
    rank = summarise(read_draft(draft)).rank
    assert rank is not None
    assert (rank.rank, rank.world_size, rank.backend, rank.host) == (1, 4, "nccl", "node-7")
    assert rank.groups == (ProcessGroup(name="0", backend="cuda:nccl", size=4),)
    assert (rank.started_ns, rank.ended_ns) == (NOON_US * 1000 + 20_000, NOON_US * 1000 + 25_000)


def test_a_clock_that_does_not_count_from_1970_tells_no_time(draft: Draft, read_draft: ReadDraft) -> None:
    draft.surroundings["distributedInfo"] = {"rank": 0, "world_size": 2}
    draft.launched(10, 1)
    rank = contents(read_draft(draft)).rank
    assert rank is not None
    assert (rank.started_ns, rank.ended_ns) == (None, None)


@pytest.mark.parametrize(
    "told",
    [
        {"rank": -1, "world_size": 2},
        {"rank": 2, "world_size": 2},
        {"rank": "0", "world_size": 2},
        {"rank": 10**30},
        {"world_size": 2},
        [0, 2],
        "rank 0",
        {"rank": 0, "world_size": 2, "pg_config": "all"},
        {"rank": 0, "world_size": -5},
    ],
)
def test_what_tells_no_rank_is_a_finding_and_puts_no_number_in_doubt(
    draft: Draft, read_draft: ReadDraft, told: Any
) -> None:
    draft.surroundings["distributedInfo"] = told
    draft.launched(10, 1)
    summary = summarise(read_draft(draft))
    assert summary.rank is None
    assert [(finding.code, finding.doubtful) for finding in summary.health] == [("unclear_rank", ())]
    assert (summary.kernels, summary.doubtful) == (1, ())


def test_no_distributed_info_is_no_rank_and_no_finding(draft: Draft, read_draft: ReadDraft) -> None:
    draft.surroundings["distributedInfo"] = None
    draft.launched(10, 1)
    summary = summarise(read_draft(draft))
    assert (summary.rank, summary.health) == (None, ())


def test_the_rank_that_the_others_wait_for_is_named(drafts: Callable[[], Draft], read_draft: ReadDraft) -> None:
    traces = [
        held(read_draft(rank_trace(drafts(), rank, computes=computes)), key)
        for rank, computes, key in ((1, 500, "A"), (0, 300, "B"))
    ]
    (job,) = jobs(traces)
    assert (job.world_size, job.missing, job.here) == (2, 0, "ranks 0 and 1 of 2")
    assert job.grouped_by == "the same world size and backend, recorded at the same time"
    fast, slow = job.ranks
    assert (fast.rank, fast.communication_ns, fast.overlapped_ns, fast.exposed_ns) == (0, 1_800_000, 30_000, 1_770_000)
    assert (fast.step_ns, fast.own_step_ns, slow.own_step_ns) == (900_000, 310_000, 510_000)
    assert fast.kernel_busy_ns == 2_700_000
    assert job.straggler == "A"
    assert job.words == (
        "Rank 1 is the slowest: 510.0 µs per step without exposed communication, 200.0 µs more than rank 0."
    )


def test_ranks_alike_have_no_straggler_and_missing_ones_are_counted(
    drafts: Callable[[], Draft], read_draft: ReadDraft
) -> None:
    traces = [held(read_draft(rank_trace(drafts(), rank, computes=300, world=16)), str(rank)) for rank in (3, 0)]
    (job,) = jobs(traces)
    assert (job.straggler, job.missing, job.here) == (None, 14, "ranks 0 and 3 of 16")
    assert job.words.startswith("No rank of those here stands out")


def test_jobs_of_another_time_and_second_traces_of_a_rank_stand_apart(
    drafts: Callable[[], Draft], read_draft: ReadDraft
) -> None:
    later = NOON_US + 3_600 * 1_000_000
    specs = ((0, NOON_US), (1, NOON_US), (1, later), (1, NOON_US))
    traces = [
        held(read_draft(rank_trace(drafts(), rank, computes=300, start=start)), str(key))
        for key, (rank, start) in enumerate(specs)
    ]
    assert [[one.key for one in job.ranks] for job in jobs(traces)] == [["0", "1"], ["2"], ["3"]]


def test_a_rank_whose_steps_are_unknown_leaves_the_straggler_open(
    drafts: Callable[[], Draft], read_draft: ReadDraft
) -> None:
    lost = rank_trace(drafts(), 1, computes=900)
    lost.launch(NOON_US + 50, 77)  # within a step, without a kernel
    traces = [held(read_draft(rank_trace(drafts(), 0, computes=300)), "A"), held(read_draft(lost), "B")]
    (job,) = jobs(traces)
    assert job.straggler is None
    assert job.words == "Who is slowest cannot be told: the steps of rank 1 are not known."


def public_job(folder: Path, *names: str) -> tuple[JobRanks, ...]:
    return jobs([held(read_trace(folder / name), str(at)) for at, name in enumerate(names)])


def test_public_traces_of_equal_shape_and_other_years_are_of_two_jobs(public_traces: Path) -> None:
    """03 and 07 are rank 0 and rank 1 of two, with nccl; one of May 2024, one of November 2022."""
    jobs_found = public_job(public_traces, "03_a100_ddp_nccl_2rank_ns.json.gz", "07_v100_large_53MB_json.json.gz")
    assert [job.here for job in jobs_found] == ["rank 0 of 2", "rank 1 of 2"]
    assert [job.missing for job in jobs_found] == [1, 1]


def test_public_traces_say_how_many_ranks_are_missing(public_traces: Path) -> None:
    many, cpu = public_job(
        public_traces, "04_a100_partial_graph_orphans_16rank.json.gz", "09_cpu_only_gloo_rank34.json.gz"
    )
    assert (many.here, many.missing, cpu.here, cpu.missing) == ("rank 0 of 16", 15, "rank 34 of 300", 299)
    facts = cpu.ranks[0]
    assert (facts.kernel_busy_ns, facts.communication_ns, facts.step_ns) == (None, None, None)  # never 0: a CPU's
