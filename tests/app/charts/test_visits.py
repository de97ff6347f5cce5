"""The chart of a walk and the table of first visits as HTML."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import msgspec
import pytest

from app.charts.axes import MOST_TICKS, LogScale, round_ticks, spread
from app.charts.visit_tables import first_visits_html
from app.charts.visits import visits_html
from app.comparison.visits_csv import visits_csv
from profiles.comparison.entry import MeasuredEntry, entries_of
from profiles.results import Run
from profiles.visits import Visit, Walked
from tests.profiles.comparison.ladder import ladder, ladder_runs, one, results
from tests.profiles.comparison.walks import churned, churned_runs, visited

EVIL = '<img src=x onerror="alert(1)">'
VOID = {"img", "br", "input"}


class _Nesting(HTMLParser):
    """AssertionError where an end tag does not close what was opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base's signature
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _curves(html: str, kind: str) -> list[ET.Element]:
    """The drawings of one kind of layer, parsed."""
    urls = re.findall(rf'<i class="{kind} [^"]*" style="--curve:url\(&quot;data:image/svg\+xml,([^"]*?)&quot;\)"', html)
    return [ET.fromstring(unquote(unescape(url))) for url in urls]  # noqa: S314 - made here


def _points(path: ET.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path.attrib["d"])]


def _walked(*runs: Run) -> tuple[MeasuredEntry, ...]:
    return entries_of(churned(*runs))


def test_a_comparison_without_walks_has_no_chart() -> None:
    assert visits_html(ladder(), base_key="A") == ""


def test_every_walked_variant_has_two_curves_over_all_values_and_its_name() -> None:
    html = visits_html(_walked(), base_key="A")
    assert len(_curves(html, "first")) == len(_curves(html, "second")) == len(_curves(html, "leader")) == 7
    assert all(len(_points(svg[0])) == 64 for svg in _curves(html, "first"))
    assert re.findall(r'title="[^"]*"><code class="fs-name">([a-z_]+)</code>', html) == [
        r.variant for r in churned_runs()
    ]


def test_a_dear_visit_stands_high_above_the_second_and_values_run_to_the_right() -> None:
    runs = ladder_runs()
    html = visits_html(_walked(visited(runs[2], first_ms=47.8), visited(runs[4], first_ms=0.04)), base_key=None)
    dear, cheap = (_points(svg[0]) for svg in _curves(html, "first"))
    again, _ = (_points(svg[0]) for svg in _curves(html, "second"))
    assert max(y for _, y in dear) < 150
    assert min(y for _, y in cheap) > 850
    assert min(y for _, y in again) > 850
    assert [x for x, _ in dear] == sorted(x for x, _ in dear)
    assert [x for x, _ in dear] == [x for x, _ in cheap]


def test_the_baseline_is_in_ink_and_colours_stay_when_it_changes() -> None:
    entries = _walked()
    before, after = (re.findall(r'class="first n(\d)', visits_html(entries, base_key=key)) for key in ("A", "G"))
    assert before == ["0", "1", "2", "3", "4", "5", "6"]
    assert after == ["1", "2", "3", "4", "5", "6", "0"]


def test_more_variants_than_colours_are_grey_until_one_is_pointed_at() -> None:
    runs = churned_runs()
    renamed = msgspec.structs.replace(runs[0], variant="naive@compile")
    html = visits_html(_walked(*runs, renamed), base_key="A")
    assert 'class="fs-plot many"' in html
    assert ".fs .fs-plot.many:has(span.l7:hover) i.l7{--line:var(--fs-ink)}" in html
    assert 'class="fs-plot many"' not in visits_html(_walked(), base_key="A")


def test_the_chart_is_said_in_words_and_its_numbers_are_in_a_table() -> None:
    html = visits_html(_walked(), base_key="A")
    assert 'role="img" aria-label="First visits by KV length 512 to 575;' in html
    row = next(r for r in re.findall(r"<tr>.*?</tr>", html) if "sdpa_auto" in r)
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row)]
    assert cells[:3] == ["47.8", "0.04", "47.8"]
    assert re.fullmatch(r"50\.7 at \d{3}", cells[3])


def test_names_and_axes_from_a_file_are_escaped_and_all_tags_close() -> None:
    evil = msgspec.structs.replace(visited(ladder_runs()[2], first_ms=47.8, axis=EVIL), variant=EVIL)
    html = visits_html(_walked(evil), base_key=None) + first_visits_html(
        _walked(msgspec.structs.replace(evil, notes=(EVIL,))), base_key=None
    )
    assert "<img" not in html
    assert "&lt;img" in html
    nesting = _Nesting()
    nesting.feed(html)
    assert nesting.open == []


def test_a_walk_of_one_value_is_drawn_as_a_mark() -> None:
    html = visits_html(_walked(visited(ladder_runs()[2], first_ms=47.8, last=512)), base_key="A")
    assert len(_points(_curves(html, "first")[0][0])) == 1


def test_a_long_walk_keeps_its_peaks_when_it_is_thinned_out() -> None:
    visits = [Visit(value=value, first_ns=40_000, second_ns=40_000) for value in range(512, 512 + 4096)]
    visits[1234] = msgspec.structs.replace(visits[1234], first_ns=48_000_000)
    long = msgspec.structs.replace(ladder_runs()[2], visits=Walked(axis="seq_kv", visits=tuple(visits)))
    points = _points(_curves(visits_html(_walked(long), base_key="A"), "first")[0][0])
    assert len(points) == 512
    assert sum(y < 150 for _, y in points) == 1


def test_a_fixed_shape_s_visits_stand_beside_first_calls_with_what_was_left_out() -> None:
    run = ladder_runs()[2]
    metrics = (one("first_shape", "ns", 47.8e6, "single"), one("second_visit", "ns", 41_000, "single"))
    visited_run = msgspec.structs.replace(run, metrics=(*run.metrics, *metrics))
    spared = msgspec.structs.replace(ladder_runs()[4], notes=("no new shape was visited: it was long",))
    html = first_visits_html(entries_of(results(visited_run, spared)), base_key="A")
    assert '<span class="fs-key base">A</span>' in html
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", html)[1:]]
    assert rows == [["A", "sdpa_auto", "8.39", "47.8", "0.041"], ["B", "sdpa_flash", "14.5", "–", "–"]]
    assert "sdpa_flash</code>: no new shape was visited: it was long" in html
    assert 'title="47.8 ms, as long as 228 steady calls"' in html


def test_what_no_run_was_measured_for_has_no_column() -> None:
    html = first_visits_html(entries_of(results(*ladder_runs())), base_key="A")
    assert re.findall(r'<th scope="col"[^>]*>([\w ]+)', html) == ["Variant", "First call"]


def test_a_note_of_several_runs_is_told_once() -> None:
    late = "1 late sample was void"
    runs = (msgspec.structs.replace(run, notes=(late,)) for run in ladder_runs()[:2])
    html = first_visits_html(entries_of(results(*runs)), base_key="A")
    assert html.count(late) == 1
    assert re.sub(r"<[^>]+>", "", html).endswith(f"naive, naive_inplace: {late}")


def test_every_visit_is_a_line_of_the_spreadsheet() -> None:
    lines = list(csv.DictReader(io.StringIO(visits_csv(_walked()))))
    assert len(lines) == 7 * 64
    first = churned_runs()[2].visits
    assert first is not None
    auto = [line for line in lines if line["variant"] == "sdpa_auto"]
    assert [(int(line["value"]), int(line["first_ns"]), int(line["second_ns"])) for line in auto] == [
        (visit.value, visit.first_ns, visit.second_ns) for visit in first.visits
    ]
    assert (auto[0]["axis"], auto[0]["key"]) == ("seq_kv", "C")
    assert visits_csv(ladder()).count("\n") == 1


def test_a_name_that_a_spreadsheet_would_run_is_quoted() -> None:
    evil = msgspec.structs.replace(visited(ladder_runs()[2], first_ms=1.0, axis="=1+1"), variant="=cmd()")
    line = next(csv.DictReader(io.StringIO(visits_csv(_walked(evil)))))
    assert (line["variant"], line["axis"]) == ("'=cmd()", "'=1+1")


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [(3e4, 5e7, (1e5, 1e6, 1e7)), (4e4, 9e4, (5e4, 1e5)), (1, 1, (1,))],
)
def test_a_logarithmic_axis_has_round_ticks_within_it(least: float, most: float, ticks: tuple[float, ...]) -> None:
    scale = LogScale.over(least, most)
    assert scale.ticks == ticks
    assert 0 < scale.place(most) <= scale.place(least) < 1


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [(512, 575, (520, 540, 560)), (5, 5, (5,)), (1, 4, (1, 2, 3, 4)), (1024, 1112, (1040, 1060, 1080, 1100))],
)
def test_values_have_few_round_ticks(first: int, last: int, ticks: tuple[int, ...]) -> None:
    assert round_ticks(first, last) == ticks


def test_no_range_has_more_than_six_ticks_or_none_but_where_no_round_value_lies() -> None:
    for first in (0, 1, 7, 100, 512):
        for last in range(first, first + 400):
            assert 1 <= len(round_ticks(first, last)) <= MOST_TICKS


def test_names_make_room_for_each_other_and_stay_inside() -> None:
    assert spread([0.5, 0.1], apart=0.1) == [0.5, 0.1]
    assert spread([0.98, 0.99, 0.2], apart=0.1) == pytest.approx([0.9, 1.0, 0.2])
    assert spread([0.5, 0.5, 0.5], apart=0.1) == pytest.approx([0.5, 0.6, 0.7])
