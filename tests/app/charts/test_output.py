"""The output column: the figure, and what stands behind it."""

from __future__ import annotations

import msgspec

from app.charts.doubts import Doubts
from app.charts.output import output
from profiles.results import Correctness, Run, RunStatus

RIGHT = Correctness(
    relative_l2=2e-3,
    max_abs=0.01,
    nonfinite=0,
    tolerance=1.6e-2,
    passed=True,
    rows=8192,
    rows_wrong=0,
    row_error=5e-3,
    row_allowed=3e-2,
    plain_error=3.6e-3,
    deterministic=True,
    repeats=3,
)


def shown(found: Correctness | None) -> str:
    return output(Run(variant="naive", status=RunStatus.SUCCEEDED, correctness=found), Doubts())


def test_a_right_output_tells_its_worst_row_on_hover() -> None:
    html = shown(RIGHT)
    assert '<span class="fs-tick">✓</span> 2.0e-3' in html
    assert "the worst of 8,192 rows is off by 5.0e-3" in html
    assert "plain code errs by 3.6e-3" in html
    assert "3 equal calls gave equal bits" in html
    assert "varies" not in html


def test_an_output_that_is_right_and_varies_says_so_quietly() -> None:
    html = shown(msgspec.structs.replace(RIGHT, deterministic=False))
    assert '<span class="fs-muted">varies</span>' in html
    assert "fs-badge" not in html
    assert "not deterministic: 3 equal calls did not give equal bits, all within tolerance" in html


def test_a_wrong_output_counts_its_rows_and_has_the_reason_on_hover() -> None:
    html = shown(msgspec.structs.replace(RIGHT, passed=False, rows_wrong=12, reason="NaN in 12 of 8,192 rows"))
    assert html.endswith("incorrect</span> 12 of 8,192 rows</span><sup>1</sup>")
    assert 'title="NaN in 12 of 8,192 rows"' in html


def test_an_output_that_could_not_be_compared_has_no_figure() -> None:
    found = Correctness(
        relative_l2=None, max_abs=None, nonfinite=0, tolerance=1e-2, passed=False, reason="it changes its inputs"
    )
    assert 'title="it changes its inputs"' in shown(found)
    assert "None" not in shown(found)


def test_results_from_before_rows_were_checked_are_shown_as_they_are() -> None:
    old = Correctness(relative_l2=2e-3, max_abs=0.01, nonfinite=0, tolerance=1e-2, passed=True)
    assert 'title="within tolerance 1.0e-2; greatest absolute error 1.0e-2"' in shown(old)
    assert shown(None).startswith('<span class="fs-faint" title="the output was not checked">')


def test_the_reason_stands_in_the_notes_under_the_table_too() -> None:
    doubts = Doubts()
    wrong = msgspec.structs.replace(RIGHT, passed=False, reason="it changes its inputs")
    output(Run(variant="naive", status=RunStatus.INCORRECT, correctness=wrong), doubts)
    assert "<li>it changes its inputs</li>" in doubts.notes()
