"""What torch.compile made of a variant, and which files a run leaves for people to read."""

from __future__ import annotations

import msgspec

MOST_ARTEFACTS = 16
MOST_ARTEFACT_BYTES = 2 << 20
"""Of one run, and of one file."""


class GraphBreak(msgspec.Struct, frozen=True, kw_only=True):
    """`where` is `file:line` of the user's code, None where torch does not tell."""

    reason: str
    where: str | None = None


class Recompile(msgspec.Struct, frozen=True, kw_only=True):
    """One compilation beyond the first of the same code; `guard` is the guard that failed."""

    guard: str
    where: str | None = None


class FusedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A generated kernel by its name in the trace, with the graph's operators that it computes."""

    name: str
    operators: tuple[str, ...]


class Compilation(msgspec.Struct, frozen=True, kw_only=True):
    """`stages_s` are seconds by stage (`dynamo`, `aot_autograd`, `inductor`, `triton` …); `graph_skips` are the
    reasons why CUDA graphs were asked for and not used. `limit_hit` is whether the recompile limit sent calls back to
    eager."""

    backend: str = "inductor"
    graphs: int | None = None
    breaks: tuple[GraphBreak, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    limit_hit: bool = False
    compile_s: float | None = None
    stages_s: dict[str, float] = {}
    graph_skips: tuple[str, ...] = ()
    kernels: tuple[FusedKernel, ...] = ()


class Artefact(msgspec.Struct, frozen=True, kw_only=True):
    """A text file that a run leaves (generated code): kept beside the traces under the SHA-256 of its bytes."""

    name: str
    sha256: str
    size_bytes: int
