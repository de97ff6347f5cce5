"""What takes seconds to import, imported once, before processes are forked that all need it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from contextlib import suppress


def import_early(names: Iterable[str]) -> None:
    """A module that cannot be imported is left out: the variant that needs it will say why."""
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)
