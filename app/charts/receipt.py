"""What ran: a few words in the table, and the whole receipt in the fold below it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from app.charts.markup import key_box, missing, titled, variant
from app.markup import Tone, badge, muted
from profiles.comparison.entry import Entry
from profiles.results import Receipt

AUTOMATIC = "auto"
COMPILED = "@compile"
BACKENDS = {"cudnn": "cuDNN"}


def backend(name: str) -> str:
    """A backend as its makers write it."""
    return BACKENDS.get(name, name)


def what_ran(variant_name: str, receipt: Receipt | None) -> str:
    """Plain text where what ran is what was asked, a badge where a choice was made or a worse one ran."""
    if receipt is None:
        return muted("compiled" if variant_name.endswith(COMPILED) else "as written")
    return titled(_said(receipt), receipt.detail) if receipt.detail else _said(receipt)


def receipts_html(entries: Iterable[Entry], *, base_key: str | None) -> str:
    """One row for each run that has a receipt; empty where none has."""
    with_receipt = [(e, e.run.receipt) for e in entries if e.run is not None and e.run.receipt is not None]
    if not with_receipt:
        return ""
    rows = "".join(_row(entry, receipt, filled=entry.key == base_key) for entry, receipt in with_receipt)
    head = "<th>Variant</th><th>Asked</th><th>Ran</th><th>Order</th><th>Why not the others</th>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    summary = "<summary>Dispatch receipts: what was asked, what ran, why not the others</summary>"
    return f'<div class="fs"><details class="fs-fold">{summary}<div class="fs-scroll">{table}</div></details></div>'


def _said(receipt: Receipt) -> str:
    if receipt.ran is None:
        return muted(f"{backend(receipt.asked)}, not seen in the trace")
    if receipt.fell_back:
        return badge(f"fell back: {backend(receipt.ran)}", Tone.WARN)
    if receipt.asked == AUTOMATIC:
        return badge(f"auto → {backend(receipt.ran)}", Tone.RUN)
    return muted(_as_asked(receipt))


def _as_asked(receipt: Receipt) -> str:
    ran = receipt.ran or ""
    if receipt.asked != ran:
        return f"{backend(receipt.asked)}: {backend(ran)}"
    return f"{backend(ran)}, as asked"


def _row(entry: Entry, receipt: Receipt, *, filled: bool) -> str:
    order = " → ".join(backend(name) for name in receipt.order or ())
    reasons = "".join(
        f"<div><code>{escape(backend(name))}</code> {escape(reason)}</div>" for name, reason in receipt.refusals.items()
    )
    detail = f"<div>{escape(receipt.detail)}</div>" if receipt.detail else ""
    cells = (
        f'<th scope="row">{key_box(entry.key, filled=filled)} {variant(entry.variant)}</th>',
        f"<td>{escape(backend(receipt.asked))}</td>",
        f"<td>{escape(backend(receipt.ran)) if receipt.ran else missing('no kernel of a known backend was seen')}</td>",
        f'<td class="fs-muted">{escape(order) or missing("the order was not recorded")}</td>',
        f'<td class="fs-muted fs-wrap">{f"{reasons}{detail}" or missing("no other backend was asked or refused")}</td>',
    )
    return f"<tr>{''.join(cells)}</tr>"
