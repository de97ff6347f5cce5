"""Ranks of distributed jobs among the traces: who belongs together, who is missing, who keeps the others waiting."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from profiles.comparison.figures import listed, prose_time
from profiles.comparison.traces.document import JobRanks, RankFacts
from profiles.comparison.traces.entry import Basis, ComparedTrace, basis_of, works
from profiles.trace.contents import Work
from profiles.trace.ranks import Rank
from profiles.trace.wording import counted


def jobs(traces: Sequence[ComparedTrace]) -> tuple[JobRanks, ...]:
    """Of the traces that say of which rank of several they are; also where only one of them is here."""
    groups: list[list[tuple[ComparedTrace, Rank]]] = []
    for trace in traces:
        rank = trace.contents.rank if trace.contents is not None else None
        if rank is None or rank.job is None or (rank.world_size or 0) < 2:
            continue
        fitting = next((group for group in groups if _fits(rank, [other for _, other in group])), None)
        if fitting is None:
            groups.append([(trace, rank)])
        else:
            fitting.append((trace, rank))
    return tuple(_job(sorted(group, key=lambda one: one[1].rank)) for group in groups)


def _fits(rank: Rank, others: Sequence[Rank]) -> bool:
    """Of one job, not there yet, and recorded at the same time as far as both tell."""
    same = all(rank.job == other.job and rank.rank != other.rank for other in others)
    return same and all(_overlap(rank, other) is not False for other in others)


def _overlap(rank: Rank, other: Rank) -> bool | None:
    if rank.started_ns is None or rank.ended_ns is None or other.started_ns is None or other.ended_ns is None:
        return None
    return rank.started_ns <= other.ended_ns and other.started_ns <= rank.ended_ns


def _job(group: Sequence[tuple[ComparedTrace, Rank]]) -> JobRanks:
    ranks = tuple(_facts(trace, rank) for trace, rank in group)
    first = group[0][1]
    world = first.world_size or len(group)
    straggler, words = _straggler(ranks, world)
    return JobRanks(
        world_size=world,
        backend=first.backend,
        grouped_by=_grouped_by([rank for _, rank in group]),
        ranks=ranks,
        missing=world - len(ranks),
        here=_here(ranks, world),
        straggler=straggler,
        words=words,
    )


def _grouped_by(ranks: Sequence[Rank]) -> str:
    if len(ranks) == 1:
        return "the only one of its job here"
    signs = ["the same world size and backend"]
    if ranks[0].grouped:
        signs.append("the same trace group")
    known = all(rank.started_ns is not None for rank in ranks)
    signs.append("recorded at the same time" if known else "when they were recorded is not told by all of them")
    return ", ".join(signs)


def _here(ranks: Sequence[RankFacts], world: int) -> str:
    numbers = [f"{rank.rank:,}" for rank in ranks]
    if len(numbers) > 8:
        return f"{len(numbers):,} of {world:,} ranks"
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {listed(numbers)} of {world:,}"


def _facts(trace: ComparedTrace, rank: Rank) -> RankFacts:
    summary, held = trace.summary, trace.contents
    recorded = bool(summary.kernels)
    whole = held.whole if held is not None and recorded else None
    steps = works(trace) if basis_of(trace)[0] is Basis.STEP else []
    own = _own_steps(steps)
    spans = [work.span_ns for work in steps if work.span_ns is not None]
    return RankFacts(
        key=trace.key,
        label=trace.label,
        rank=rank.rank,
        host=rank.host,
        steps=len(own),
        kernel_busy_ns=summary.kernel_busy_ns if recorded else None,
        busy_ns=summary.gpu_busy_ns if recorded else None,
        idle_ns=sum(idle.total_ns for idle in summary.idle) if recorded else None,
        communication_ns=whole.communication_ns if whole else None,
        overlapped_ns=whole.overlapped_ns if whole else None,
        exposed_ns=_exposed_ns(whole) if whole else None,
        step_ns=statistics.median_low(spans) if spans else None,
        own_step_ns=statistics.median_low(own) if own else None,
        own_low_ns=min(own, default=None),
        own_high_ns=max(own, default=None),
    )


def _own_steps(steps: Sequence[Work]) -> list[int]:
    """Each step's time on the device less the communication that nothing ran beside: in it a rank waits for others."""
    found = []
    for work in steps:
        exposed_ns = _exposed_ns(work)
        if work.span_ns is not None and exposed_ns is not None:
            found.append(work.span_ns - exposed_ns)
    return found


def _exposed_ns(work: Work) -> int | None:
    if work.communication_ns is None or work.overlapped_ns is None:
        return None
    return work.communication_ns - work.overlapped_ns


def _straggler(ranks: Sequence[RankFacts], world: int) -> tuple[str | None, str]:
    """Who stands out: the one whose steps are all longer than all of the others', without the communication."""
    if len(ranks) < 2:
        return None, f"Only one of {counted(world, 'rank')} is here: nothing to hold it against."
    untold = [rank for rank in ranks if rank.own_step_ns is None]
    if untold:
        return None, f"Who is slowest cannot be told: the steps of rank {untold[0].rank:,} are not known."
    among = "" if len(ranks) == world else " of those here"
    slowest, second = sorted(ranks, key=lambda rank: -(rank.own_step_ns or 0))[:2]
    if (slowest.own_low_ns or 0) <= max(rank.own_high_ns or 0 for rank in ranks if rank is not slowest):
        return None, f"No rank{among} stands out: their steps' times without exposed communication overlap."
    more_ns = (slowest.own_step_ns or 0) - (second.own_step_ns or 0)
    return slowest.key, (
        f"Rank {slowest.rank:,} is the slowest{among}: {prose_time(slowest.own_step_ns or 0)} per step without exposed"
        f" communication, {prose_time(more_ns)} more than rank {second.rank:,}."
    )
