"""Receipts of every mechanism, read alike."""

from __future__ import annotations

from app.commands.variant_table import described
from profiles.comparison.dispatch import fall, fallen, mechanism, receipts
from profiles.comparison.entry import entries_of
from profiles.results import Receipt, Run, RunStatus
from tests.profiles.comparison.ladder import ladder_runs, results

SDPA = Receipt(asked="auto", ran="cudnn")
GRAPHS = Receipt(
    mechanism="cuda_graph",
    asked="graph replay",
    ran="single launches",
    fell_back=True,
    detail="CUDA graphs were skipped: mutated inputs",
)
RUN = Run(variant="sdpa@compile", status=RunStatus.SUCCEEDED, receipt=SDPA, dispatch=(GRAPHS,))


def test_the_attention_backends_receipt_comes_first_and_only_falls_have_fallen() -> None:
    assert receipts(RUN) == (SDPA, GRAPHS)
    assert fallen(RUN) == (GRAPHS,)
    assert [mechanism(receipt) for receipt in receipts(RUN)] == ["SDPA", "CUDA graphs"]


def test_a_fall_says_what_was_asked_what_ran_and_why() -> None:
    reason = "asked for graph replay, ran single launches (CUDA graphs were skipped: mutated inputs)"
    assert fall(GRAPHS) == reason
    assert fall(Receipt(asked="flash", ran=None, fell_back=True)) == "asked for flash, ran something else"


def test_the_command_line_notes_every_fall() -> None:
    naive, fell = ladder_runs()[0], Run(variant="sdpa_auto", status=RunStatus.SUCCEEDED, dispatch=(GRAPHS,))
    lines = described(entries_of(results(naive, fell)), baseline=None, by="gpu_time")
    assert f"  sdpa_auto: {fall(GRAPHS)}" in lines
