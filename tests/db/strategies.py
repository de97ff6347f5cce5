"""Any run that results can hold: whatever the types allow, and nothing that JSON does not.

The strategies follow the types, so that a new field is drawn as soon as it is there.
"""

from __future__ import annotations

import typing
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any

import msgspec
from hypothesis import strategies as st

from profiles.results import Conditions, Run

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["\0", "\ue000", "\ue000\ue001", "\ue0011\0\0", "void kernel<float, 4>(int*)", "%_\\", "'\"", "µs × –", "𝛼"]
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
PLAIN: dict[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    float: NUMBER,
    int: WHOLE,
    bool: st.booleans(),
    NoneType: st.none(),
}
MOST = 3

GIVEN: dict[tuple[type, str], st.SearchStrategy[Any]] = {
    (Run, "variant"): st.just("naive"),
    (Run, "trace"): st.none() | st.just("ab" * 32),
    (Conditions, "started_at"): st.none()
    | TEXT
    | st.datetimes(timezones=st.timezones()).map(lambda when: when.isoformat()),
}
"""Fields that more is known of than their type."""


def of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type that results are made of."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (UnionType, typing.Union):
        return st.one_of(*map(of, arguments))
    if origin is tuple:
        is_list = arguments[-1] is Ellipsis
        return st.lists(of(arguments[0]), max_size=MOST).map(tuple) if is_list else st.tuples(*map(of, arguments))
    if origin is dict:
        return st.dictionaries(*map(of, arguments), max_size=MOST)
    if issubclass(kind, StrEnum):
        return st.sampled_from(kind)
    assert issubclass(kind, msgspec.Struct), kind
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{n: GIVEN[kind, n] if (kind, n) in GIVEN else of(hint) for n, hint in hints.items()})


RUNS = of(Run)
