"""The output column of the variant table: how far from right, in how many rows, and whether equal calls agree."""

from __future__ import annotations

from html import escape

from app.charts.doubts import Doubts
from app.charts.markup import missing, titled
from app.formatting import error
from app.markup import Tone, badge, muted
from profiles.comparison.reason import varying_sentence
from profiles.results import Correctness, Run


def output(run: Run, doubts: Doubts) -> str:
    """Why an output is wrong or varies stands in the notes too: touch has no hover."""
    found = run.correctness
    if found is None:
        return missing("the output was not checked")
    if not found.passed:
        label = f"{badge('incorrect', Tone.BAD)} {escape(_wrong(found))}".rstrip()
        return doubts.note(label, found.reason) if found.reason else titled(label, _whole(found))
    varies = varying_sentence(found)
    before = f"{doubts.note(muted('varies'), varies)}&emsp;" if varies else ""
    figure = f'<span class="fs-tick">✓</span> {error(found.relative_l2)}'
    return f'<span class="fs-nowrap">{before}{titled(figure, _right(found))}</span>'


def _right(found: Correctness) -> str:
    """What stands behind the tick."""
    said = [_whole(found)]
    if found.row_error is not None and found.rows is not None:
        said.append(f"the worst of {found.rows:,} rows is off by {error(found.row_error)}")
    if found.plain_error is not None:
        said.append(f"plain code errs by {error(found.plain_error)}")
    if found.max_abs is not None:
        said.append(f"greatest absolute error {error(found.max_abs)}")
    if found.deterministic:
        said.append(f"{found.repeats} equal calls gave equal bits")
    return "; ".join(said)


def _whole(found: Correctness) -> str:
    return f"{'within ' if found.passed else ''}tolerance {error(found.tolerance)}"


def _wrong(found: Correctness) -> str:
    """A word beside the badge; the sentence stands under the answer."""
    if found.rows and found.rows_wrong:
        return f"{found.rows_wrong:,} of {found.rows:,} rows"
    if found.nonfinite:
        return f"{found.nonfinite:,} not finite"
    return error(found.relative_l2) if found.relative_l2 is not None else ""
