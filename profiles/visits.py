"""First visits: what a new shape costs in a warm process, against its second visit."""

from __future__ import annotations

import msgspec


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """One value of the walked axis: one call and its synchronisation, in ns, the first time and the second."""

    value: int
    first_ns: int
    second_ns: int


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """The visits in the order in which they were made, in one process of this variant alone."""

    axis: str
    visits: tuple[Visit, ...]
