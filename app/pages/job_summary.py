"""The card beside the form: what the job will be, what it will cost, the one button, and the same from a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from app import addresses, context, submission
from app.devices import refusals, taking
from app.formatting import GIB, MIB, NOT_RECORDED, about, count, memory, plural
from app.forms import draft
from app.forms.command import submit_command
from app.forms.estimates import longest, peak_memory
from app.forms.sweep import SweepError
from app.markup import facts, page, prose
from app.pages import links
from db import jobs
from db.views import WorkerView
from profiles import catalog, presets
from profiles.job import JobError, JobRequest


def show(draft_: draft.Draft, known: Sequence[WorkerView], *, place: Any, beside: Any) -> None:
    """`place` is inside the card, `beside` is below it."""
    request, problem = _request(replace(draft_, name=suggested_name(draft_)))
    takers = taking(known, draft_.device)
    with place:
        st.html(facts(_facts(request, takers)))
        typed = st.text_input("Name", key="job name", placeholder=suggested_name(draft_), max_chars=120)
        if problem:
            st.html(page(f'<div class="fs-problem" role="alert"><p>{escape(problem)}</p></div>'))
        pressed = st.button(
            "Start job",
            type="primary",
            width="stretch",
            shortcut="Ctrl+Enter",
            disabled=request is None,
            key="start job",
        )
        if request is not None:
            _command(request)
    if request is not None:
        with beside:
            _advice(request, takers)
    if pressed and request is not None:
        _submit(replace(draft_, name=(typed or "").strip() or suggested_name(draft_)))


def suggested_name(draft_: draft.Draft) -> str:
    """The question's title and what was changed of it: `Attention ladder, seq_q 2048`."""
    if draft_.preset is None:
        base = f"{catalog.operation(draft_.parts[0].operation).title}, own choice"
        usual = [draft.own_part(part.operation, device=draft_.device) for part in draft_.parts]
    else:
        base = presets.preset(draft_.preset).title
        usual = list(draft.preset_parts(draft_.preset, device=draft_.device))
    changed = [
        f"{name} {text}"
        for part, known in zip(draft_.parts, usual, strict=True)
        for name, text in part.axes.items()
        if text != known.axes[name] and text
    ]
    return ", ".join([base, *dict.fromkeys(changed)])[:120]


def _request(draft_: draft.Draft) -> tuple[JobRequest | None, str | None]:
    if not any(part.variants for part in draft_.parts):
        return None, "No variant is chosen; tick at least one."
    try:
        return draft.request(draft_), None
    except SweepError:
        return None, "An axis cannot be read; the reason stands under the axes."
    except JobError as error:
        return None, f"{error}."


def _facts(request: JobRequest | None, takers: Sequence[WorkerView]) -> list[tuple[str, str]]:
    if request is None:
        return [(name, NOT_RECORDED) for name in ("Trials", "Runs", "Peak memory", "Time", "Starts")]
    return [
        ("Trials", count(len(request.trials))),
        ("Runs", count(sum(len(trial.variants) for trial in request.trials))),
        ("Peak memory", escape(_memory(request, takers))),
        ("Time", escape(_time(request))),
        ("Starts", escape(_starts(request, takers))),
    ]


def _memory(request: JobRequest, takers: Sequence[WorkerView]) -> str:
    needed = _needed(request, takers)
    if needed is None:
        return NOT_RECORDED
    whole = _device_memory(takers)
    return f"about {memory(max(needed, MIB))}" + (f" of {whole / GIB:,.0f} GiB" if whole else "")


def _needed(request: JobRequest, takers: Sequence[WorkerView]) -> float | None:
    """By the variants that will not be refused."""
    sizes = [peak_memory(trial.workload, _running(trial.variants, trial.workload, takers)) for trial in request.trials]
    known = [size for size in sizes if size is not None]
    return max(known) if known else None


def _running(variants: Sequence[str], workload: Any, takers: Sequence[WorkerView]) -> list[str]:
    operation = catalog.operation(workload.operation)
    return [
        v for v in variants if refusals(catalog.check_variant(operation, v), workload, takers) is None or not takers
    ]


def _device_memory(takers: Sequence[WorkerView]) -> int | None:
    sizes = [w.capabilities.memory_bytes for w in takers if w.capabilities.memory_bytes is not None]
    return min(sizes) if sizes else None


def _time(request: JobRequest) -> str:
    expected = jobs.expected_seconds(context.database(), request)
    if expected is not None:
        return about(expected)
    return longest(request)


def _starts(request: JobRequest, takers: Sequence[WorkerView]) -> str:
    if not takers:
        return "when a worker answers"
    waiting = [job for job in jobs.open_jobs(context.database()) if job.request.device == request.device]
    return f"after {plural(len(waiting), 'job')}" if waiting else "at once"


def _command(request: JobRequest) -> None:
    command = submit_command(request)
    st.html(page('<p class="fs-muted">The same from a terminal:</p>' if command else _no_command()))
    if command:
        st.code(command, language=None, wrap_lines=True)


def _no_command() -> str:
    return prose("Sweeps and own choices go by this form, or by `POST /api/v1/jobs`.").join(
        ('<p class="fs-muted">', "</p>")
    )


def _advice(request: JobRequest, takers: Sequence[WorkerView]) -> None:
    told = advice(request, takers)
    if told:
        st.html(page(f'<div class="fs-look"><b>Look twice</b><span>{prose(told)}</span></div>'))


def advice(request: JobRequest, takers: Sequence[WorkerView]) -> str | None:
    """The one thing worth a second look, the worst first."""
    if not takers:
        start = f"fusescope worker --device {'cuda:0' if request.device == 'cuda' else request.device}"
        return f"No worker answers for `{request.device}`. The job waits until one does: `{start}`."
    running = [_running(trial.variants, trial.workload, takers) for trial in request.trials]
    if not any(running):
        return "Every variant will be refused here. Choose another device or other variants."
    needed, whole = _needed(request, takers), _device_memory(takers)
    if needed is not None and whole is not None and needed > 0.9 * whole:
        wanted = f"About {memory(needed)} of {memory(whole)} will be needed."
        return f"{wanted} Leave out the variants that write the scores out, or take a smaller batch."
    if any("@compile" in variant for variants in running for variant in variants):
        return (
            "Compiled variants take their time at the first call; it is measured too, and never thrown away as warm-up."
        )
    return None


def _submit(draft_: draft.Draft) -> None:
    try:
        submission.submit(draft.request(draft_))
    except JobError as error:
        st.error(str(error))
        return
    links.go(addresses.JOBS)
