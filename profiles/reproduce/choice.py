"""Which run of a file is meant: by variant, by workload where there are several, or by its key."""

from __future__ import annotations

from collections.abc import Sequence

from profiles.comparison.entry import EntryT, sections
from profiles.comparison.figures import listed, workload_label
from profiles.reproduce.errors import ReproduceError
from profiles.variant import VariantError, parse_variant


def chosen(entries: Sequence[EntryT], name: str, *, workload: int | None = None) -> EntryT:
    """The entry that `name` means: `attention/naive`, `naive` or a key (`A`); `workload` counts from 1.

    ReproduceError lists what there is where no entry is meant, or several are.
    """
    found = [entry for entry in entries if name == entry.key or _is_meant(entry, name)]
    if not found:
        raise ReproduceError(f"there is no variant {name!r}; there are {_listed(entries)}")
    if workload is not None:
        found = list(_of_workload(found, name, workload))
    groups = sections(found)
    if len(groups) > 1:
        numbered = listed([f"{number} ({_workload(group[0])})" for number, group in enumerate(groups, start=1)])
        raise ReproduceError(f"{name!r} was measured with several workloads: {numbered}; choose one by its number")
    if len(found) > 1:
        raise ReproduceError(f"{name!r} was measured several times; choose one by its key: {_listed(found)}")
    return found[0]


def _is_meant(entry: EntryT, name: str) -> bool:
    """`@eager` may be written out."""
    operation, _, variant = name.rpartition("/")
    try:
        return operation in ("", entry.workload.operation) and str(parse_variant(variant)) == entry.variant
    except VariantError:
        return False


def _of_workload(found: Sequence[EntryT], name: str, number: int) -> Sequence[EntryT]:
    groups = sections(found)
    if not 1 <= number <= len(groups):
        raise ReproduceError(f"there is no workload {number} of {name!r}; accepted are 1 to {len(groups)}")
    return groups[number - 1]


def _listed(entries: Sequence[EntryT]) -> str:
    return listed([f"{entry.key} {entry.workload.operation}/{entry.variant}" for entry in entries])


def _workload(entry: EntryT) -> str:
    return f"{entry.workload.operation}, {workload_label(entry.workload)}"
