"""What an Nsight Systems export calls things, in the words that Kineto has for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from profiles.trace.model import SliceKind
from profiles.trace.nsight_database import Database

KERNEL_NAMES = ("demangledName", "shortName", "mangledName")
_REFERENCES = (
    *(("CUPTI_ACTIVITY_KIND_KERNEL", column) for column in KERNEL_NAMES),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"),
    ("NVTX_EVENTS", "textId"),
    ("ThreadNames", "nameId"),
)
_RANGES = {"NvtxPushPopRange": 59, "NvtxStartEndRange": 60}  # as exports number them that do not say so themselves
_COPIES = (
    "Memcpy", "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA", "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
    "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP", "Memcpy HtoD unified", "Memcpy DtoH unified", "Memcpy DtoD unified",
)  # fmt: skip
_STEP = re.compile(r"(ProfilerStep|fusescope\.forward)#\d+$")
_OPERATOR = re.compile(r"\w+::\w+(\.\w+)?$")
_API_VERSION = re.compile(r"_v\d{4,}$")


def strings(database: Database) -> dict[int, str]:
    """The texts that the records read here refer to: an export also holds those of all others."""
    found: dict[int, str] = {}
    for run in database.rows_named_by("StringIds", ("id", "value"), key="id", references=_REFERENCES):
        found.update((key, value) for key, value in run if isinstance(key, int) and isinstance(value, str))
    return found


@lru_cache(maxsize=4096)
def call_name(name: str) -> str:
    """`cudaLaunchKernel_v7000` → `cudaLaunchKernel`; the driver's `_v2` is part of a function's name and stays."""
    return _API_VERSION.sub("", name)


@lru_cache(maxsize=4096)
def call_kind(name: str) -> SliceKind:
    """Both are in one table: the driver's functions have a capital after `cu`."""
    return SliceKind.DRIVER if name[:2] == "cu" and name[2:3].isupper() else SliceKind.RUNTIME


def range_meaning(text: str) -> tuple[SliceKind, str]:
    """PyTorch's `emit_nvtx` writes operators as `aten::add, seq = 12, op_id = 314359`, and its users' marks alike."""
    name = text.partition(", op_id = ")[0].partition(", seq = ")[0]
    is_operator = len(name) < len(text) and _names_operator(name)
    return SliceKind.OPERATOR if is_operator else SliceKind.ANNOTATION, name


@lru_cache(maxsize=4096)
def is_step(name: str) -> bool:
    return bool(_STEP.match(name))


def range_types(database: Database) -> frozenset[int]:
    """The event types of NVTX ranges; the others are marks, names and domains."""
    types = {name: key for key, name in _enum(database, "ENUM_NSYS_EVENT_TYPE", "name") if name in _RANGES}
    return frozenset((_RANGES | types).values())


class CopyNames:
    """`Memcpy HtoD (Pageable -> Device)`, as Kineto has it; without the kinds of memory where the file names none."""

    def __init__(self, database: Database) -> None:
        self._memory = dict(_enum(database, "ENUM_CUDA_MEM_KIND", "label"))

    def copy(self, copy_kind: object, source: object, destination: object) -> str:
        name = _COPIES[copy_kind] if isinstance(copy_kind, int) and 0 <= copy_kind < len(_COPIES) else _COPIES[0]
        ends = [self._memory.get(end) for end in (source, destination) if isinstance(end, int)]
        return f"{name} ({ends[0]} -> {ends[1]})" if len(ends) == 2 and all(ends) else name

    def fill(self, memory: object) -> str:
        named = self._memory.get(memory) if isinstance(memory, int) else None
        return f"Memset ({named})" if named else "Memset"


@lru_cache(maxsize=4096)
def _names_operator(name: str) -> bool:
    return bool(_OPERATOR.match(name))


def _enum(database: Database, table: str, column: str) -> Iterator[tuple[int, str]]:
    for run in database.rows(table, ("id", column)):
        for key, name in run:
            if isinstance(key, int) and isinstance(name, str):
                yield key, name
