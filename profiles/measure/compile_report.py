"""What compiling a variant came to: heard at its first call, and in the session that calls it ever after."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from profiles.compilation import MOST_ARTEFACT_BYTES, Artefact, Compilation
from profiles.measure.generated_code import fused_kernels, written_code
from profiles.measure.subject import Subject

CODE_NAME = "generated-code.py"


class CompileReport(msgspec.Struct, frozen=True, kw_only=True):
    """Of the first call, before any other shape is visited. `artefacts` lie in the spec's directory."""

    compilation: Compilation
    artefacts: tuple[Artefact, ...] = ()


def after_first_call(subject: Subject, directory: Path) -> CompileReport | None:
    """None where nothing is compiled. The first call is over and timed: reading what it left costs nobody."""
    if subject.watch is None:
        return None
    code = written_code(subject.compile_cache)
    compilation = msgspec.structs.replace(subject.watch.compilation, kernels=fused_kernels(code))
    return CompileReport(compilation=compilation, artefacts=_kept(code, directory))


def so_far(subject: Subject, first: CompileReport | None) -> Compilation | None:
    """What the session has heard, with what only the first call tells: compiling again from a cache takes no time."""
    if subject.watch is None:
        return None
    heard = subject.watch.compilation
    if first is None:
        return heard
    cold = first.compilation
    return msgspec.structs.replace(
        heard,
        graphs=cold.graphs,
        compile_s=cold.compile_s,
        stages_s=cold.stages_s,
        kernels=cold.kernels,
        graph_skips=tuple(dict.fromkeys((*cold.graph_skips, *heard.graph_skips))),
    )


def _kept(code: str, directory: Path) -> tuple[Artefact, ...]:
    """The code as a file under its SHA-256; nothing where there is none, or more than anyone reads."""
    content = code.encode()
    if not content or len(content) > MOST_ARTEFACT_BYTES:
        return ()
    digest = hashlib.sha256(content).hexdigest()
    (directory / digest).write_bytes(content)
    return (Artefact(name=CODE_NAME, sha256=digest, size_bytes=len(content)),)
