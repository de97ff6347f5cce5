"""Below the receipts: each run as a Python script to take along."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

from app.charts.markup import key_box, variant
from profiles.comparison.entry import Entry
from profiles.reproduce.script import filename

SUMMARY = "Reproduce: each run as one Python file, without Fusescope"


def reproduce_html(entries: Iterable[Entry], *, base_key: str | None, url: Callable[[str], str]) -> str:
    """A link for each run, whatever became of it; empty where nothing is measured. `url` takes an entry's key."""
    rows = "".join(_row(entry, url(entry.key), filled=entry.key == base_key) for entry in entries if entry.run)
    if not rows:
        return ""
    lead = (
        '<p class="fs-muted fs-fold-lead">Each makes the same inputs, checks the output against the float64 reference, '
        "times it as here, and prints the times beside these; <code>--device cpu</code> works too.</p>"
    )
    head = '<thead><tr><th>Variant</th><th>Script</th><th class="wide">Run it</th></tr></thead>'
    table = f'<div class="fs-scroll"><table>{head}<tbody>{rows}</tbody></table></div>'
    return f'<div class="fs"><details class="fs-fold"><summary>{SUMMARY}</summary>{lead}{table}</details></div>'


def _row(entry: Entry, address: str, *, filled: bool) -> str:
    name = escape(filename(entry))
    return (
        f'<tr><th scope="row">{key_box(entry.key, filled=filled)} {variant(entry.variant)}</th>'
        f'<td><a href="{escape(address)}" download="{name}">Download</a></td>'
        f'<td class="wide fs-muted fs-nowrap"><code>python {name}</code></td></tr>'
    )
