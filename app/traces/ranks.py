"""The ranks of one distributed job: what each did, which one the others wait for, which are not here."""

from __future__ import annotations

from html import escape

from app.charts.markup import full_name, key_box, missing
from app.formatting import plural
from app.markup import Tone, badge, section
from app.traces.figures import NOT_TOLD
from profiles.comparison.figures import prose_time
from profiles.comparison.traces.document import JobRanks, RankFacts

TIMES = (
    ("Step", "per step", "step_ns"),
    ("Own work", "per step", "own_step_ns"),
    ("Kernels busy", "in all", "kernel_busy_ns"),
    ("Communication", "in all", "communication_ns"),
    ("Exposed", "in all", "exposed_ns"),
    ("Idle", "in all", "idle_ns"),
)


def ranks_html(job: JobRanks) -> str:
    """One row per rank, with its machine where any is told."""
    shown = any(rank.host for rank in job.ranks)
    heads = "".join(f'<th class="num" scope="col">{name}<small>{of}</small></th>' for name, of, _ in TIMES)
    host = '<th class="wide" scope="col">Host</th>' if shown else ""
    rows = "".join(_row(rank, job, shown) for rank in job.ranks)
    missed = f", {plural(job.missing, 'rank')} missing" if job.missing else ""
    aside = escape(f"{len(job.ranks)} of {job.world_size}{missed}, held together by {job.grouped_by}")
    backend = f" ({escape(job.backend)})" if job.backend else ""
    return (
        f"{section('Ranks of one job', aside=aside + backend)}"
        f'<div class="fs"><p>{escape(job.words)}</p><div class="fs-scroll"><table class="fs-ranks"><thead><tr>'
        f'<th scope="col">Rank</th>{host}{heads}</tr></thead><tbody>{rows}</tbody></table></div></div>'
    )


def _row(rank: RankFacts, job: JobRanks, hosts: bool) -> str:
    straggler = f" {badge('straggler', Tone.WARN)}" if rank.key == job.straggler else ""
    host = f'<td class="wide fs-muted">{full_name(rank.host or "")}</td>' if hosts else ""
    times = "".join(f'<td class="num">{_time(getattr(rank, name))}</td>' for _, _, name in TIMES)
    return f'<tr><th scope="row">{key_box(rank.key)} rank {rank.rank}{straggler}</th>{host}{times}</tr>'


def _time(ns: int | None) -> str:
    return missing(NOT_TOLD) if ns is None else prose_time(ns)
