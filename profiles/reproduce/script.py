"""One run as one Python file: its operation's own source, the check, the timing, and what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from profiles import catalog
from profiles.comparison.entry import Entry
from profiles.comparison.figures import workload_label
from profiles.reproduce.constants import constants
from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.header import header
from profiles.reproduce.layout import imports, joined, ordered
from profiles.reproduce.modules import Definition
from profiles.reproduce.sources import Sources
from profiles.variant import Variant

NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproducer:
    """`filename` has no folder; `text` is the whole file."""

    filename: str
    text: str


def reproducer(entry: Entry) -> Reproducer:
    """The script of a run, whatever became of it. ReproduceError where this version cannot make it."""
    if entry.run is None:
        raise ReproduceError(f"{entry.variant} is not measured; there is nothing to reproduce")
    operation, variant = _known(entry)
    sources = Sources(entry, operation, variant)
    name = filename(entry)
    head = header(entry, entry.run, name=f"{operation.name}/{variant}", filename=name, needs=_packages(entry))
    body = "\n\n\n".join([*_sections(sources), 'if __name__ == "__main__":\n    raise SystemExit(main())'])
    parts = [
        head,
        "from __future__ import annotations",
        imports(sources.parts.values()),
        constants(entry, entry.run, body),
    ]
    return Reproducer(filename=name, text="\n\n".join(parts) + "\n\n\n" + body + "\n")


def filename(entry: Entry) -> str:
    """`attention_naive_B8_H16_S1024_D64_causal_bf16.py`."""
    words = f"{entry.workload.operation} {entry.variant} {workload_label(entry.workload).replace('×', 'x')}"
    return f"{NOT_IN_A_NAME.sub('_', words)}.py"


def _known(entry: Entry) -> tuple[catalog.Operation, Variant]:
    """What the catalogue has by these names: the words of a file never become code."""
    try:
        operation = catalog.operation(entry.workload.operation)
        catalog.check_workload(entry.workload)
        return operation, catalog.check_variant(operation, entry.variant)
    except catalog.CatalogError as error:
        raise ReproduceError(f"this version of Fusescope cannot make the script: {error}") from error


def _sections(sources: Sources) -> Iterator[str]:
    """What is measured comes first, how it is measured last."""
    done: set[Definition] = set()
    context = [sources.context] if sources.context is not None else []
    for title, roots in (
        ("What is measured", [sources.implementation, *context]),
        ("Its inputs", [sources.inputs]),
        ("What is right", sources.reference),
        ("Check and time", [sources.main]),
    ):
        definitions = ordered(roots, sources.parts, done)
        rule = f"# --- {title} "
        yield f"{rule}{'-' * (100 - len(rule))}\n\n\n{joined(definitions, sources.parts)}"


def _packages(entry: Entry) -> str:
    implementation = catalog.operation(entry.workload.operation).implementation(entry.variant.partition("@")[0])
    return " and ".join(["torch", *implementation.needs.packages])
