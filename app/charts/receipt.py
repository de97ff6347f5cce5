"""What ran: a few words in the table, and all receipts in the fold below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from app.charts.markup import key_box, missing, titled, variant
from app.markup import Tone, badge, muted
from profiles.comparison.dispatch import backend, fallen, mechanism, receipts
from profiles.comparison.entry import Entry
from profiles.results import Receipt, Run
from profiles.variant import Execution, VariantError, parse_variant


@dataclass(frozen=True, slots=True)
class _Column:
    """`cell` gives inner HTML, empty where a receipt does not say; a column that is not `always` there goes when none
    does."""

    head: str
    cell: Callable[[Receipt], str]
    classes: str
    always: bool = True
    absent: str = "not recorded"


AUTOMATIC = "auto"
EXECUTIONS = {
    Execution.EAGER: "as written",
    Execution.COMPILE: "compiled",
    Execution.COMPILE_REDUCE_OVERHEAD: "compiled, replayed",
    Execution.COMPILE_MAX_AUTOTUNE: "compiled, autotuned",
    Execution.CUDAGRAPH: "replayed",
}


def what_ran(run: Run) -> str:
    """Plain text where what ran is what was asked, a badge where a choice was made or a worse one ran."""
    fell = next(iter(fallen(run)), None)
    receipt = fell or run.receipt
    if receipt is None:
        return muted(_execution(run.variant))
    return titled(_said(receipt), receipt.detail) if receipt.detail else _said(receipt)


def receipts_html(entries: Iterable[Entry], *, base_key: str | None) -> str:
    """One row for each receipt, the fold open where one fell back; empty where no run has any."""
    told = [(entry, receipt) for entry in entries if entry.run is not None for receipt in receipts(entry.run)]
    if not told:
        return ""
    shown = [column for column in COLUMNS if column.always or any(column.cell(receipt) for _, receipt in told)]
    rows = "".join(_row(entry, receipt, shown, filled=entry.key == base_key) for entry, receipt in told)
    head = "".join(f'<th scope="col">{title}</th>' for title in ("Variant", *(column.head for column in shown)))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    summary = "<summary>Dispatch receipts: what was asked, what ran, why not the others</summary>"
    opened = " open" if any(receipt.fell_back for _, receipt in told) else ""
    fold = f'<details class="fs-fold"{opened}>{summary}<div class="fs-scroll">{table}</div></details>'
    return f'<div class="fs">{fold}</div>'


def _execution(name: str) -> str:
    try:
        return EXECUTIONS[parse_variant(name).execution]
    except VariantError:  # of a file from a later version
        return name.partition("@")[2]


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


def _row(entry: Entry, receipt: Receipt, shown: Sequence[_Column], *, filled: bool) -> str:
    name = f"{key_box(entry.key, filled=filled)} {variant(entry.variant)}"
    cells = (f'<td class="{c.classes}">{c.cell(receipt) or missing(c.absent)}</td>' for c in shown)
    return f'<tr><th scope="row" class="fs-nowrap">{name}</th>{"".join(cells)}</tr>'


def _who(receipt: Receipt) -> str:
    """With the versions that decide, on hover."""
    name = escape(mechanism(receipt))
    versions = ", ".join(f"{backend(package)} {version}" for package, version in receipt.versions.items())
    return titled(name, versions) if versions else name


def _ran(receipt: Receipt) -> str:
    if receipt.ran is None:
        return missing("no kernel of a known backend was seen")
    return badge(backend(receipt.ran), Tone.WARN) if receipt.fell_back else escape(backend(receipt.ran))


def _reasons(receipt: Receipt) -> str:
    """Each refusal; what came of it where that says more."""
    reasons = "".join(
        f"<div><code>{escape(backend(name))}</code> {escape(reason)}</div>" for name, reason in receipt.refusals.items()
    )
    detail = receipt.detail or ""
    told = bool(reasons) and all(reason in detail for reason in receipt.refusals.values())
    return reasons + (f"<div>{escape(detail)}</div>" if detail and not told else "")


def _order(receipt: Receipt) -> str:
    return escape(" → ".join(backend(name) for name in receipt.order or ()))


COLUMNS = (
    _Column("Who chose", _who, "fs-nowrap"),
    _Column("Asked", lambda receipt: escape(backend(receipt.asked)), "fs-nowrap"),
    _Column("Ran", _ran, ""),
    _Column("Order", _order, "fs-muted", always=False, absent="the order was not recorded"),
    _Column(
        "Why not the others",
        _reasons,
        "fs-muted fs-wrap",
        always=False,
        absent="no other backend was asked or refused",
    ),
)
