"""What torch.compile made of each compiled variant: graphs, breaks, time by stage, and which kernel swallowed what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from app.charts.markup import key_box, variant
from app.markup import mono
from profiles.comparison.entry import Entry
from profiles.comparison.figures import count, prose_time
from profiles.compilation import Artefact, Compilation, FusedKernel, GraphBreak, Recompile

STAGES = {
    "dynamo": "tracing",
    "aot_autograd": "AOTAutograd",
    "inductor": "inductor",
    "code": "writing and building code",
    "triton": "Triton",
    "autotune": "autotuning",
    "cuda_graphs": "recording graphs",
}


def compilations_html(entries: Iterable[Entry], *, base_key: str | None, code: Callable[[str, str], str]) -> str:
    """A fold for each compiled variant; empty where none is. `code` gives a file's address by entry key and SHA-256."""
    folds = "".join(
        _fold(entry, entry.run.compilation, entry.run.artefacts, filled=entry.key == base_key, code=code)
        for entry in entries
        if entry.run is not None and entry.run.compilation is not None
    )
    if not folds:
        return ""
    title = '<div class="fs-section"><h2>Compilation</h2><span>told by torch, at the first call and after</span></div>'
    return f'<div class="fs">{title}{folds}</div>'


def _fold(
    entry: Entry,
    compilation: Compilation,
    artefacts: Sequence[Artefact],
    *,
    filled: bool,
    code: Callable[[str, str], str],
) -> str:
    name = f"{key_box(entry.key, filled=filled)} {variant(entry.variant)}"
    links = "".join(
        f'<a href="{escape(code(entry.key, file.sha256))}" target="_blank">{escape(file.name)}</a> '
        f'<span class="fs-muted">{file.size_bytes:,} bytes</span>'
        for file in artefacts
    )
    parts = (
        _stages(compilation),
        _list("Graph breaks", [_broken(found) for found in compilation.breaks]),
        _list("Recompilations", [_recompiled(found) for found in compilation.recompiles]),
        _list("CUDA graphs skipped", [escape(reason) for reason in compilation.graph_skips]),
        _kernels(compilation.kernels),
        f"<p>{links}</p>" if links else "",
    )
    summary = f'<summary>{name} <span class="fs-muted">{escape(_summary(compilation))}</span></summary>'
    return (
        f'<details class="fs-fold fs-compiled">{summary}<div class="fs-compiled-body">{"".join(parts)}</div></details>'
    )


def _summary(compilation: Compilation) -> str:
    """`1 graph, no break, compiled in 3.2 s`."""
    told = [] if compilation.graphs is None else [count(compilation.graphs, "graph")]
    told.append(count(len(compilation.breaks), "break") if compilation.breaks else "no break")
    if compilation.recompiles:
        told.append(count(len(compilation.recompiles), "recompilation"))
    if compilation.limit_hit:
        told.append("recompile limit reached: eager from then on")
    if compilation.graph_skips:
        told.append("CUDA graphs skipped")
    if compilation.compile_s is not None:
        told.append(f"compiled in {prose_time(compilation.compile_s * 1e9)}")
    return ", ".join(told)


def _stages(compilation: Compilation) -> str:
    """A bar of what each stage takes by itself, and the same in words."""
    stages = {STAGES.get(name, name): seconds for name, seconds in compilation.stages_s.items() if seconds > 0}
    whole = sum(stages.values())
    if not whole:
        return ""
    words = [f"{name} {prose_time(seconds * 1e9)}" for name, seconds in stages.items()]
    blocks = "".join(
        f'<i style="width:{seconds / whole * 100:.3f}%" title="{escape(said)}"></i>'
        for seconds, said in zip(stages.values(), words, strict=True)
    )
    legend = "".join(f"<span><i></i> {escape(said)}</span>" for said in words)
    bar = f'<div class="fs-stages" role="img" aria-label="{escape(", ".join(words))}">{blocks}</div>'
    return f'{bar}<div class="fs-stages-legend">{legend}</div>'


def _list(title: str, items: Sequence[str]) -> str:
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<div><b>{title}</b><ul>{rows}</ul></div>" if items else ""


def _broken(found: GraphBreak) -> str:
    return f"{_where(found.where)}{escape(found.reason)}"


def _recompiled(found: Recompile) -> str:
    return f"{_where(found.where)}{escape(found.guard)}"


def _where(place: str | None) -> str:
    return f"{mono(place)} " if place else ""


def _kernels(kernels: Sequence[FusedKernel]) -> str:
    if not kernels:
        return ""
    rows = "".join(
        f'<tr><td>{mono(kernel.name)}</td><td class="fs-muted fs-wrap">{mono(", ".join(kernel.operators))}</td></tr>'
        for kernel in kernels
    )
    head = "<thead><tr><th>Generated kernel</th><th>Operators that it computes</th></tr></thead>"
    return f'<div class="fs-scroll"><table class="fs-fused">{head}<tbody>{rows}</tbody></table></div>'
