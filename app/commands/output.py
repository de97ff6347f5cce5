"""What commands print: JSON, and tables of text."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from profiles.trace.printable import printable_json

GAP = "  "


def print_json(value: object) -> None:
    """One line of JSON; structs as their fields, unknown as null. Nothing in it moves or colours a terminal's text."""
    sys.stdout.write(printable_json(msgspec.json.encode(value).decode()) + "\n")


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool]) -> list[str]:
    """Aligned lines under their titles; `right` says which columns hold figures. No line ends in spaces."""
    lines = [titles, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return [
        GAP.join(
            cell.rjust(width) if figure else cell.ljust(width)
            for cell, width, figure in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]
