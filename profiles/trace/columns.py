"""Rows of any format into the columns of a trace: exact times, invalid and repeated records set aside, one order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from profiles.results import Finding
from profiles.trace.decimals import nanoseconds
from profiles.trace.doubts import LEFT_OUT
from profiles.trace.model import ABSENT, CALL_KINDS, GPU_KINDS, Bools, Int64s, SliceKind, Slices
from profiles.trace.wording import counted

_EARLIEST_NS, _LATEST_NS = -(2**60), 2**62  # 36 years before the clock's zero; in the year 2116
_LONGEST_NS = 2**53  # 104 days. With these, every end, span and distance fits int64
_MOST_NS = 2**62  # and with this every sum of durations
_FAR_DIGITS = 17  # of whole µs: beyond what int64 holds in ns
NO_NAME = "(no name)"


class SliceColumns:
    """Grows by runs of rows; `finish` gives the ordered slices and what was wrong with the rest."""

    def __init__(self) -> None:
        self._runs: list[tuple[Int64s, ...]] = []
        self._numbers: list[Bools] = []
        self._far = 0

    def add(
        self,
        *,
        kind: Sequence[int],
        name: Sequence[int],
        track: Sequence[int],
        start: Sequence[bytes],
        duration: Sequence[bytes],
        correlation: Sequence[int],
        shape: Sequence[int],
    ) -> None:
        """`start` and `duration` are µs texts, empty where missing; `correlation` and `shape` are ABSENT where there is
        none."""
        if max(map(len, start), default=0) >= _FAR_DIGITS:
            self._far += sum(len(text.split(b".", 1)[0]) >= _FAR_DIGITS for text in start)
        start_ns, start_ok = nanoseconds(start)
        duration_ns, duration_ok = nanoseconds(duration)
        whole = (np.array(column, np.int64) for column in (kind, name, track))
        joined = (np.array(column, np.int64) for column in (correlation, shape))
        self._runs.append((*whole, start_ns, duration_ns, *joined))
        self._numbers.append(start_ok & duration_ok)

    def add_ns(
        self,
        *,
        kind: Sequence[int],
        name: Sequence[int],
        track: Sequence[int],
        start_ns: Int64s,
        duration_ns: Int64s,
        known: Bools,
        correlation: Int64s,
        shape: Sequence[int],
    ) -> None:
        """`known` says where start and duration are both there."""
        whole = (np.array(column, np.int64) for column in (kind, name, track))
        self._runs.append((*whole, start_ns, duration_ns, correlation, np.array(shape, np.int64)))
        self._numbers.append(known)

    def finish(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], Slices, tuple[Finding, ...]]:
        """The names in alphabetical order, the slices, and the findings: equal for equal rows in whatever order."""
        empty = (np.zeros(0, np.int64),) * 7
        kind, name, track, start, duration, correlation, shape = (
            np.concatenate(runs) for runs in zip(empty, *self._runs, strict=True)
        )
        valid = np.concatenate([np.zeros(0, np.bool_), *self._numbers])
        valid &= _possible(start, duration)
        valid &= _adding_up(duration, valid)
        by_name = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), np.int64)
        rank[by_name] = np.arange(len(names))
        columns = np.stack([kind, rank[name], track, start, duration, correlation, shape])
        ordered = columns[:, valid]
        ordered = ordered[:, np.lexsort((ordered[5], ordered[1], ordered[2], ordered[0], -ordered[4], ordered[3]))]
        kept = ~_repeats(ordered)
        too_far = self._far + int(np.count_nonzero(start >= _LATEST_NS))
        findings = (*_far(too_far), *_invalid(kind[~valid]), *_duplicates(ordered[0][~kept]))
        return tuple(names[index] for index in by_name), Slices(*ordered[:, kept]), findings


def _possible(start: Int64s, duration: Int64s) -> Bools:
    in_time: Bools = (start > _EARLIEST_NS) & (start < _LATEST_NS) & (duration >= 0) & (duration < _LONGEST_NS)
    in_time &= (start != 0) | (duration != 0)
    return in_time


def _adding_up(duration: Int64s, valid: Bools) -> Bools:
    """All, where their sum fits int64; else those that are short enough for as many of them to do so."""
    if duration[valid].sum(dtype=np.float64) < _MOST_NS:
        return np.ones(len(duration), np.bool_)
    return duration < _MOST_NS // len(duration)


def nameless(count: int) -> Iterator[Finding]:
    if count:
        message = f"{counted(count, 'record')} without a name, shown as {NO_NAME!r}"
        yield Finding(code="nameless_records", message=message, count=count, doubtful=("distinct_kernel_names",))


def _repeats(ordered: Int64s) -> Bools:
    """The rows that repeat the one before in every column. Calls and GPU slices are told apart by their correlation;
    host slices are not, so that theirs only count when all of them come in pairs."""
    repeats = np.zeros(ordered.shape[1], np.bool_)
    repeats[1:] = (ordered[:, 1:] == ordered[:, :-1]).all(axis=0)
    correlated = np.isin(ordered[0], (*GPU_KINDS, *CALL_KINDS)) & (ordered[5] != ABSENT)
    host = ~np.isin(ordered[0], (*GPU_KINDS, *CALL_KINDS))
    if 2 * np.count_nonzero(repeats & host) != np.count_nonzero(host):
        repeats &= ~host
    repeats &= correlated | host
    return repeats


def _far(count: int) -> Iterator[Finding]:
    if count:
        message = (
            f"{counted(count, 'record')} after the year 2116 when timestamps are read as µs, as the format says: not"
            " counted; they may have been written in ns"
        )
        yield Finding(code="suspicious_unit", message=message, count=count, doubtful=LEFT_OUT)


def _invalid(kinds: Int64s) -> Iterator[Finding]:
    if not len(kinds):
        return
    on_gpu = int(np.isin(kinds, GPU_KINDS).sum())
    kernels = int((kinds == SliceKind.KERNEL).sum())
    message = (
        f"{counted(len(kinds), 'record')} ({kernels:,} of kernels, {on_gpu - kernels:,} of copies and fills) with no"
        " duration, a negative one or one of more than 104 days, no start, or start and duration both 0: not counted"
    )
    yield Finding(code="invalid_records", message=message, count=len(kinds), doubtful=LEFT_OUT if on_gpu else ())


def _duplicates(kinds: Int64s) -> Iterator[Finding]:
    if not len(kinds):
        return
    kernels = int((kinds == SliceKind.KERNEL).sum())
    message = f"{counted(len(kinds), 'record')} ({kernels:,} of kernels) in the file twice: counted once"
    yield Finding(code="duplicate_records", message=message, count=len(kinds), doubtful=("kernels", "launches"))
