"""Names from hostile files are text everywhere: on a terminal, in JSON, in spreadsheets and on pages."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.charts.kernels import kernels_html
from app.charts.ledger import ledger_html
from app.cli import main
from app.comparison.spreadsheet import comparison_csv
from profiles.comparison.entry import entries_of
from profiles.comparison.figures import MICROSECONDS
from profiles.comparison.ledger import ledger
from profiles.results import KernelUse, Run
from profiles.trace.forward import per_forward
from profiles.trace.model import Trace
from profiles.trace.names import short_name, short_names
from profiles.trace.printable import printable, printable_json
from profiles.trace.roles import role_of
from profiles.trace.summary import summarise
from tests.profiles.comparison.ladder import ladder_runs, results

if TYPE_CHECKING:
    from conftest import Draft

ReadDraft = Callable[["Draft"], Trace]

MARKUP = '<img src=x onerror="alert(1)">'
FORMULA = "=cmd|' /C calc'!A0"
MARKDOWN = "**bold** [link](javascript:alert(1)) `code`"
TERMINAL = "\x1b[31mred\x1b]0;title\x07 \x9b2J"
DIRECTION = "kernel\u202efdp.exe\u2066\u200b"
NUL = "ker\x00nel\nsecond line"
HOSTILE = (MARKUP, FORMULA, MARKDOWN, TERMINAL, DIRECTION, NUL, "a" * 100_000, "\t@SUM(A1)", "-1+1", " ", "\ufeff")
SLOW = (
    "_ZN" + "9" * 100_000,
    "_ZN99999999999999999999a",
    "{lambda" * 20_000,
    "mean" * 25_000,
    "x_kernel" * 12_000 + "<" + "a_kernel" * 10_000,
    "multi_tensor_apply_kernel<" * 4_000,
    "(" * 50_000 + ")" * 50_000,
    "void cutlass::" * 7_000,
)


def _hidden(text: str) -> bool:
    return printable(text) != text


def _traced(draft: Draft, read_draft: ReadDraft) -> tuple[KernelUse, ...]:
    draft.forward(0, 100, 1000)
    for place, name in enumerate(HOSTILE):
        draft.launched(110 + 20 * place, place + 1, name=name)
    return per_forward(read_draft(draft), device="cuda:0").kernels


def _run(draft: Draft, read_draft: ReadDraft) -> Run:
    return msgspec.structs.replace(ladder_runs()[0], variant=MARKUP, kernels=_traced(draft, read_draft))


def test_every_hostile_name_is_a_kernel_with_a_short_name_that_is_short_printable_and_its_own(
    draft: Draft, read_draft: ReadDraft
) -> None:
    uses = _traced(draft, read_draft)
    assert {use.name for use in uses} == set(HOSTILE)
    assert len({use.short_name for use in uses}) == len(HOSTILE)
    assert all(0 < len(use.short_name) < 64 and not _hidden(use.short_name) for use in uses)


@pytest.mark.parametrize("name", SLOW, ids=lambda name: name[:12])
def test_no_name_takes_long_or_breaks_the_reader(name: str) -> None:
    started = time.perf_counter()
    assert short_name(name)
    assert role_of(name)
    assert time.perf_counter() - started < 5


def test_short_names_differ_even_where_a_name_looks_like_a_numbered_one() -> None:
    names = ["void k<1>()", "k #2", "void k<2>()", "k #3", "void k<3>()", "k"]
    shorts = short_names(names)
    assert len(set(shorts)) == len(names)
    assert shorts[:3] == ("k", "k #2", "k #3")


def test_hidden_characters_are_shown_as_their_escapes_and_letters_stay() -> None:
    assert printable("a\x1bb\u202ec\x00\x9b") == "a\\x1bb\\u202ec\\x00\\x9b"
    assert printable("µs Größe 内核 – …") == "µs Größe 内核 – …"
    hidden = json.dumps({"name": TERMINAL + DIRECTION}, ensure_ascii=False)
    assert json.loads(printable_json(hidden)) == {"name": TERMINAL + DIRECTION}
    assert not _hidden(printable_json(hidden))


def test_the_page_shows_hostile_kernels_as_text(draft: Draft, read_draft: ReadDraft) -> None:
    run = _run(draft, read_draft)
    drawn = ledger(entries_of(results(run)))
    assert drawn is not None
    html = kernels_html(run, unit=MICROSECONDS, stages=5, on_cpu=False) + ledger_html(drawn, base_key=None)
    assert "<img" not in html
    assert "&lt;img src=x" in html
    assert not _hidden(html)
    assert len(html) < 100_000


def test_the_spreadsheet_runs_no_name(draft: Draft, read_draft: ReadDraft) -> None:
    for name in HOSTILE:
        run = msgspec.structs.replace(_run(draft, read_draft), variant=name)
        (line,) = csv.DictReader(io.StringIO(comparison_csv(entries_of(results(run)), base_key=None, by="gpu_time")))
        assert line["variant"].lstrip("'") == name.lstrip("'")
        assert line["variant"][:1] not in tuple("=+-@\t\r\n")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_terminal_obeys_nothing_in_a_file(
    draft: Draft, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    draft.surroundings["deviceProperties"] = [{"id": 0, "name": TERMINAL + DIRECTION}]
    for place, name in enumerate(HOSTILE):
        draft.launched(110 + 20 * place, place + 1, name=name)
    file = tmp_path / "hostile.json"
    file.write_text(draft.text())
    assert main(["trace", str(file), *form]) == 0
    written = capsys.readouterr().out
    assert "fdp.exe" in written
    assert not _hidden(written.replace("\n", ""))


def test_a_step_is_named_as_its_whole_mark(draft: Draft, read_draft: ReadDraft) -> None:
    draft.add("user_annotation", "ProfilerStep#1\n", 100, 100)
    draft.launched(110, 1)
    assert summarise(read_draft(draft)).steps == ()
