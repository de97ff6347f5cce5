"""What a trace's findings put in doubt on its timeline, and in the files of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from app.timeline.chrome import chrome_json
from app.timeline.doubts import Quantity, doubts
from app.timeline.ranges import inside
from app.timeline.shown import show
from app.timeline.slices_csv import slices_csv
from profiles.results import Finding
from profiles.trace.read import read_trace
from profiles.trace.summary import summarise
from tests.app.timeline.random_timelines import random_timeline

RECORDED = Path(__file__).parents[2] / "data" / "traces"
UNEXPLAINED = Finding(
    code="unexplained_gaps",
    message="213 gaps between GPU slices (555.0 ms in all) that nothing recorded explains",
    count=213,
    doubtful=("kernels", "kernel_sum_ns", "kernel_busy_ns", "gpu_busy_ns", "idle", "devices.idle"),
)
EARLIER = Finding(
    code="launched_before_window",
    message="1 GPU slice launched before the recording began",
    count=1,
    doubtful=("kernels", "kernel_sum_ns"),
)
UNSTABLE = Finding(code="unstable_counts", message="steps differ", count=2, doubtful=("steps.kernels",))
OVERLAP = Finding(code="stream_overlap", message="3 GPU slices began before …", count=3)
STRANGE = Finding(code="of_tomorrow", message="something new", count=1, doubtful=("timeline",))


def test_a_finding_is_told_in_few_words_with_what_it_makes_doubtful() -> None:
    [gaps, strange] = doubts((UNEXPLAINED, OVERLAP, STRANGE), of_step=False)
    assert gaps.text == "213 gaps unexplained: calls, times, busy times and gaps doubtful"
    assert gaps.about == (Quantity.CALLS, Quantity.TIMES, Quantity.BUSY, Quantity.GAPS)
    assert strange.text == "something new: positions doubtful"


def test_of_one_step_earlier_work_is_no_doubt_but_the_counts_of_steps_are() -> None:
    assert [doubt.text for doubt in doubts((EARLIER, UNSTABLE), of_step=False)] == [
        "1 slice of earlier work: calls and times doubtful"
    ]
    assert [doubt.text for doubt in doubts((EARLIER, UNSTABLE), of_step=True)] == ["equal steps differ: calls doubtful"]


def test_operators_of_a_cpu_are_not_in_doubt_for_want_of_a_gpu() -> None:
    health = summarise(read_trace(RECORDED / "cpu_naive.json.gz")).health
    assert [finding.code for finding in health] == ["no_gpu_activity"]
    assert not doubts(health, of_step=True)
    assert not doubts(health, of_step=False)


def test_files_carry_the_doubts() -> None:
    drawn = random_timeline(50, seed=1)
    found, shown = doubts((UNEXPLAINED, STRANGE), of_step=False), show(drawn)
    lines = list(csv.DictReader(io.StringIO("".join(slices_csv(shown, inside(shown, -1, 10**9), found)))))
    assert {line["doubts"] for line in lines} == {"unexplained_gaps of_tomorrow"}
    told = json.loads(b"".join(chrome_json(drawn, found)))
    assert [doubt["code"] for doubt in told["otherData"]["doubts"]] == ["unexplained_gaps", "of_tomorrow"]
    assert told["otherData"]["doubts"][0]["message"] == UNEXPLAINED.message
    assert len(told["traceEvents"]) > 50
