"""What a command is: a module with two functions and the errors that its user can cause."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Protocol, cast


class Exit(IntEnum):
    """`FAILED`: something that was measured failed or was incorrect. `WRONG_USE`: also files that cannot be read."""

    SUCCEEDED = 0
    FAILED = 1
    WRONG_USE = 2
    INTERRUPTED = 130


class CommandError(Exception):
    """Wrong use of a command; one line that says what is accepted."""


class CommandModule(Protocol):
    """`ERRORS` become one line and `Exit.WRONG_USE`; any other exception is a fault of ours and keeps its traceback."""

    @property
    def ERRORS(self) -> tuple[type[Exception], ...]: ...  # noqa: N802 - a module's constant

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> Exit: ...


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    path: str
    summary: str

    def load(self) -> CommandModule:
        return cast(CommandModule, import_module(self.path))
