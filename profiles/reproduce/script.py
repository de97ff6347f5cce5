"""One run as one Python file: its operation's own source, the check, the timing, and what was measured."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from profiles import catalog
from profiles.comparison.entry import Entry
from profiles.comparison.figures import workload_label
from profiles.comparison.speed import By
from profiles.plan import CachePolicy
from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.header import header
from profiles.reproduce.layout import imports, joined, ordered
from profiles.reproduce.literals import assignment, said
from profiles.reproduce.modules import Definition, Imported, Module, module
from profiles.reproduce.program import Told, main_text
from profiles.reproduce.reach import Part, reached
from profiles.reproduce.stand_ins import stand_ins
from profiles.results import Run
from profiles.variant import Variant

ALONE = "profiles.measure.alone"
CUDA_GRAPH, EXECUTIONS = "profiles.measure.cuda_graph", "profiles.measure.executions"
PROGRAM = "the script"  # the module that `main` is in
NOTE = "  # entered once around all calls, outside the timed windows"
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
    sources = _Sources(entry, operation, variant)
    name = filename(entry)
    head = header(entry, entry.run, name=f"{operation.name}/{variant}", filename=name, needs=_packages(entry))
    body = "\n\n\n".join([*_sections(sources), 'if __name__ == "__main__":\n    raise SystemExit(main())'])
    parts = [
        head,
        "from __future__ import annotations",
        imports(sources.parts.values()),
        _constants(entry, entry.run, body),
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


class _Sources:
    """The definitions of one script: our modules, with the implementation as `main` calls it."""

    def __init__(self, entry: Entry, operation: catalog.Operation, variant: Variant) -> None:
        self._modules = stand_ins(entry.workload)
        path, _, function = operation.implementation(variant.implementation).path.partition(":")
        self.implementation, self.context = _bare(self.module(path).definitions[function])
        inputs = self.module(operation.module).definitions["inputs"]
        self.inputs = _definition(inputs.module, "\n".join(inputs.lines).replace("def inputs(", "def make_inputs("))
        self._replace(path, {function: self.implementation})
        self.reference = [self.module(operation.module).definitions[name] for name in _right(entry)]
        told = Told(
            cache=_cache(entry),
            function=function,
            execution=variant.execution,
            samples=entry.plan.samples,
            device="cpu" if entry.environment is None else entry.environment.device,
            within_context=self.context is not None,
            by_row=_row_allowed(entry) is not None,
            allowed="ALLOWED" if _allowed(entry) is not None else "error_allowed()",
        )
        self.main = _definition(PROGRAM, main_text(told))
        self._modules[PROGRAM] = self._program()
        self.parts: dict[Definition, Part] = reached([self.implementation, self.inputs, self.main], self.module)

    def module(self, name: str) -> Module:
        return self._modules.get(name) or module(name)

    def _replace(self, name: str, definitions: dict[str, Definition]) -> None:
        found = self.module(name)
        self._modules[name] = replace(found, definitions={**found.definitions, **definitions})

    def _program(self) -> Module:
        own = [self.implementation, self.inputs, *self.reference, *([self.context] if self.context else [])]
        libraries = {
            "argparse": Imported("argparse"),
            "torch": Imported("torch"),
            "ExitStack": Imported("contextlib", "ExitStack"),
            "partial": Imported("functools", "partial"),
            "CapturedCall": Imported(CUDA_GRAPH, "CapturedCall"),
            "_keep_weights_in_place": Imported(EXECUTIONS, "_keep_weights_in_place"),
        }
        timing = {name: Imported(ALONE, name) for name in module(ALONE).definitions}
        return Module(PROGRAM, {one.name: one for one in own}, {**libraries, **timing})


def _sections(sources: _Sources) -> Iterator[str]:
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


def _constants(entry: Entry, run: Run, body: str) -> str:
    """Those of the workload that the code reads, and what was measured."""
    workload = entry.workload
    values: dict[str, object] = {
        "AXES": workload.axes,
        "DTYPE": workload.dtype,
        "DISTRIBUTION": workload.distribution,
        "SEED": workload.seed,
    }
    lines = [assignment(name, value) for name, value in values.items() if re.search(rf"\b{name}\b", body)]
    if (allowed := _allowed(entry)) is not None:
        lines.append(f"{assignment('ALLOWED', allowed)}  # relative L2 error that passes")
    if (row_allowed := _row_allowed(entry)) is not None:
        lines.append(f"{assignment('ROW_ALLOWED', row_allowed)}  # of its worst row")
    metrics = {by: run.metric(by) for by in By}
    measured = {str(by): (found.value, found.low, found.high) for by, found in metrics.items() if found is not None}
    device = "nothing" if entry.environment is None else said(entry.environment.device_name)
    lines += [
        assignment("MEASURED_ON", device),
        "# ns: median, lower and upper end of its interval",
        assignment("MEASURED", measured),
    ]
    return "\n".join(lines)


def _cache(entry: Entry) -> CachePolicy:
    """A CPU measures warm, whatever the plan says."""
    on_cpu = entry.environment is not None and entry.environment.device == "cpu"
    return CachePolicy.WARM if on_cpu else entry.plan.cache


def _right(entry: Entry) -> tuple[str, ...]:
    """Of the operation's module; what passes is computed only where the run does not tell it."""
    return ("reference",) if _allowed(entry) is not None else ("reference", "error_allowed")


def _allowed(entry: Entry) -> float | None:
    found = entry.run.correctness if entry.run is not None else None
    return None if found is None else found.tolerance


def _row_allowed(entry: Entry) -> float | None:
    """None where no row was wrong."""
    found = entry.run.correctness if entry.run is not None else None
    return found.row_allowed if found is not None and found.rows_wrong else None


def _packages(entry: Entry) -> str:
    implementation = catalog.operation(entry.workload.operation).implementation(entry.variant.partition("@")[0])
    return " and ".join(["torch", *implementation.needs.packages])


def _bare(definition: Definition) -> tuple[Definition, Definition | None]:
    """The implementation without `within`, and `CONTEXT`, which makes what it had there."""
    node = definition.node
    assert isinstance(node, ast.FunctionDef), "implementations are plain functions"
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "within":
            text = "\n".join(definition.lines)
            offset = len(definition.lines) - (node.end_lineno or 0)
            first, last = decorator.lineno + offset - 1, (decorator.end_lineno or 0) + offset
            argument = re.sub(
                r"^\s*@within\((.*)\)\s*$", r"\1", "\n".join(definition.lines[first:last]), flags=re.DOTALL
            )
            bare = "\n".join([*definition.lines[:first], *definition.lines[last:]])
            assert text != bare
            return _definition(definition.module, bare), _definition(definition.module, f"CONTEXT = {argument}{NOTE}")
    return definition, None


def _definition(name: str, text: str) -> Definition:
    node = ast.parse(text).body[0]
    defined = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else text.partition(" ")[0]
    return Definition(name, defined, node, tuple(text.splitlines()))
