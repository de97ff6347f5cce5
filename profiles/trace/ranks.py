"""Which process of a distributed job a recording is of, as far as the file tells (Kineto's `distributedInfo`)."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_MOST_RANKS = 10_000_000
_MOST_GROUPS = 64
_JOB_DIGITS = 16


class ProcessGroup(msgspec.Struct, frozen=True, kw_only=True):
    """`size` is how many ranks belong to it."""

    name: str | None = None
    backend: str | None = None
    size: int | None = None


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """`job` is equal for all recordings that may be of one job: a digest of the world's size, its backend, and its
    trace's group where the file names one (`grouped`). Without that, two jobs of equal shape have equal ones, so that
    who groups by it also looks at when they ran: `started_ns` and `ended_ns` are absolute, None where the clock's zero
    is not told. `groups` are at most 64 process groups of this rank, as written.
    """

    rank: int
    world_size: int | None = None
    backend: str | None = None
    host: str | None = None
    job: str | None = None
    grouped: bool = False
    groups: tuple[ProcessGroup, ...] = ()
    started_ns: int | None = None
    ended_ns: int | None = None


class _Group(msgspec.Struct):
    pg_name: str | int | None = None
    backend_config: str | None = None
    pg_size: int | None = None
    ranks: list[int] | None = None


class _Distributed(msgspec.Struct):
    rank: int
    world_size: int | None = None
    backend: str | None = None
    pg_config: list[_Group] | None = None


def rank_of(distributed: bytes, *, host: str | None, trace_group: str | None) -> Rank:
    """The rank that the JSON of a `distributedInfo` tells. ValueError where it tells none, or an impossible one."""
    try:
        told = msgspec.json.decode(distributed, type=_Distributed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    world = told.world_size
    if not 0 <= told.rank < (_MOST_RANKS if world is None else world):
        raise ValueError(f"rank {told.rank} of {world}")
    groups = told.pg_config or []
    return Rank(
        rank=told.rank,
        world_size=world,
        backend=told.backend,
        host=host,
        job=None if world is None else _digest(world, told.backend, trace_group),
        grouped=trace_group is not None,
        groups=tuple(_group(group) for group in groups[:_MOST_GROUPS]),
    )


def _group(group: _Group) -> ProcessGroup:
    name = None if group.pg_name is None else str(group.pg_name)
    size = group.pg_size if group.pg_size is not None else (len(group.ranks) if group.ranks is not None else None)
    return ProcessGroup(name=name, backend=group.backend_config, size=size)


def _digest(*told: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:_JOB_DIGITS]
