"""The speed-up's cell and the spreadsheet's columns, for each verdict."""

from __future__ import annotations

import csv
import io
import re

import pytest

from app.charts.table import table_html
from app.comparison.spreadsheet import comparison_csv
from profiles.comparison.entry import entries_of
from profiles.comparison.speed import By
from profiles.comparison.table import rows
from profiles.results import Results
from tests.profiles.comparison.builds import doubted, quiet, results, run, sampled, timed, without_builds

ALL = results(
    (
        timed("naive"),
        timed("sdpa_flash", 0.5, builds=5),
        timed("sdpa_math", 2.0),
        timed("sdpa_auto"),
        timed("sdpa_cudnn", 0.99, noise=0.02),
    )
)


def cell(found: Results, variant: str) -> str:
    html = table_html(rows(entries_of(found)), by=By.GPU_TIME)
    row = next(r for r in re.findall(r"<tr.*?</tr>", html) if f">{variant}<" in r)
    return next(c for c in re.findall(r"<td.*?</td>", row) if re.search(r"[▲▼≈?] \d|>baseline<", c))


def words(html: str) -> str:
    return re.sub(r"<[^>]+>", " ", html).strip()


def test_faster_and_slower_are_coloured_and_have_their_intervals_beside_them() -> None:
    assert words(cell(ALL, "sdpa_math")) == "▼ 0.50×  0.497–0.503"
    assert 'class="fs-red" title="slower than the baseline: 0.497–0.503× over 10 builds' in cell(ALL, "sdpa_math")
    assert 'class="fs-green" title="faster than the baseline' in cell(ALL, "sdpa_flash")


@pytest.mark.parametrize(
    ("variant", "starts", "title"),
    [
        ("sdpa_auto", "≈ 1.00×", "equivalent: within the margin of 0.5 %"),
        ("sdpa_cudnn", "? 1.0", "undecided: neither beyond the margin nor within it"),
    ],
)
def test_equivalent_and_undecided_stay_in_ink(variant: str, starts: str, title: str) -> None:
    html = cell(ALL, variant)
    assert words(html).startswith(starts)
    assert title in html
    assert "fs-green" not in html
    assert "fs-red" not in html


def test_what_speaks_against_a_speed_up_is_a_numbered_note() -> None:
    assert '<span class="fs-doubt" title="Doubtful: only 5 builds">' in cell(ALL, "sdpa_flash")
    assert "<li>only 5 builds</li>" in table_html(rows(entries_of(ALL)), by=By.GPU_TIME)


def test_the_head_names_the_interval_only_where_there_is_one() -> None:
    bare = results((without_builds(timed("naive")), without_builds(timed("sdpa_flash", 0.5))))
    assert "99 % interval" in table_html(rows(entries_of(ALL)), by=By.GPU_TIME)
    assert "99 % interval" not in table_html(rows(entries_of(bare)), by=By.GPU_TIME)
    assert words(cell(bare, "sdpa_flash")) == "▲ 2.00×"
    assert "no builds, no verdict" in cell(bare, "sdpa_flash")


def test_another_time_has_its_column_only_while_it_is_compared_by() -> None:
    names = ("gpu_time", "call_time", "graph_time", "host_time")
    both = [
        run(variant, *(sampled(name, quiet(seed=at)) for name in names))
        for at, variant in enumerate(("naive", "sdpa_flash"))
    ]
    entries = entries_of(results(tuple(both)))
    by_gpu = table_html(rows(entries, by=By.GPU_TIME), by=By.GPU_TIME)
    by_graph = table_html(rows(entries, by=By.GRAPH_TIME), by=By.GRAPH_TIME)
    assert "As a graph" not in by_gpu
    assert "As a graph" in by_graph
    assert "Host" not in by_graph


def test_the_spreadsheet_has_verdict_interval_and_builds() -> None:
    lines = {line["variant"]: line for line in csv.DictReader(io.StringIO(_csv(ALL)))}
    flash = lines["sdpa_flash"]
    assert (flash["verdict"], flash["builds"]) == ("faster", "5")
    assert float(flash["low"]) < float(flash["speed_up"]) < float(flash["high"])
    assert [lines["naive"][name] for name in ("speed_up", "verdict", "low", "high", "builds")] == [""] * 5


def _csv(found: Results) -> str:
    return comparison_csv(entries_of(found), base_key=None, by="gpu_time")


def test_a_note_of_every_speed_up_stands_once_in_the_head() -> None:
    few = results((timed("naive", builds=5), timed("sdpa_flash", 0.5, builds=5), timed("sdpa_math", 2.0, builds=5)))
    html = table_html(rows(entries_of(few)), by=By.GPU_TIME)
    assert 'title="Doubtful: only 5 builds">Speed-up</span><sup>1</sup>' in html
    assert "fs-doubt" not in cell(few, "sdpa_flash")
    assert html.count("<sup>") == 1


def test_a_doubt_of_every_time_stands_once_in_the_head() -> None:
    short = tuple(doubted(run, "gpu_time", "too few samples") for run in (timed("naive"), timed("sdpa_math", 2.0)))
    html = table_html(rows(entries_of(results(short))), by=By.GPU_TIME)
    assert 'title="Doubtful: too few samples">GPU time</span><sup>1</sup>' in html
    assert html.count("<sup>") == 1
    assert "<li>too few samples</li>" in html
