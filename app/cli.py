"""The command line: picks one command, runs it, and turns its errors into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from app.commands import COMMANDS
from app.commands.command import CommandError, Exit

OWN_PACKAGES = ("app", "db", "profiles", "workers")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        parser = _parser(chosen=_first_word(words))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in OWN_PACKAGES:
            raise
        return _refuse(f"{error.name} is not installed here; `make install` installs what this command needs")
    options = parser.parse_args(words)
    module = next(command for command in COMMANDS if command.name == options.command).load()
    wrong_use: tuple[type[Exception], ...] = (CommandError, *module.ERRORS)
    try:
        return int(module.run(options))
    except BrokenPipeError:
        return _reader_left()
    except KeyboardInterrupt:
        return _refuse("interrupted", code=Exit.INTERRUPTED)
    except OSError as error:
        return _refuse(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    except wrong_use as error:
        return _refuse(str(error))


def _first_word(words: list[str]) -> str | None:
    return next((word for word in words if not word.startswith("-")), None)


def _parser(*, chosen: str | None) -> argparse.ArgumentParser:
    """Only the chosen command's module is loaded: the others' libraries would cost its start a second."""
    parser = argparse.ArgumentParser(
        prog="fusescope", description="Profile attention and operator fusion, and compare what really ran."
    )
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        described = parsers.add_parser(command.name, help=command.summary, description=command.summary)
        if command.name == chosen:
            command.load().add_arguments(described)
            described.add_argument("--json", action="store_true", help="print JSON on standard output")
    return parser


def _refuse(line: str, *, code: Exit = Exit.WRONG_USE) -> int:
    print(f"fusescope: {' '.join(line.split())}", file=sys.stderr)
    return code


def _reader_left() -> int:
    """`fusescope catalog | head` is no error; what is still buffered must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.SUCCEEDED


if __name__ == "__main__":
    sys.exit(main())
