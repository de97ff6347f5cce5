"""The definitions that one script is made of: our modules, with the implementation as `main` calls it."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from profiles import catalog
from profiles.comparison.entry import Entry
from profiles.plan import CachePolicy
from profiles.reproduce.constants import allowed, row_allowed, window_ns
from profiles.reproduce.modules import Definition, Imported, Module, module
from profiles.reproduce.program import Told, main_text
from profiles.reproduce.reach import Part, reached
from profiles.reproduce.stand_ins import stand_ins
from profiles.variant import Variant

ALONE = "profiles.measure.alone"
CUDA_GRAPH, EXECUTIONS = "profiles.measure.cuda_graph", "profiles.measure.executions"
PROGRAM = "the script"  # the module that `main` is in
NOTE = "  # entered once around all calls, outside the timed windows"


class Sources:
    """`parts` are all that `main` reaches; `context` is None where the implementation runs in none."""

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
            by_row=row_allowed(entry) is not None,
            window=entry.run is not None and window_ns(entry.run) is not None,
            allowed="ALLOWED" if allowed(entry) is not None else "error_allowed()",
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


def _cache(entry: Entry) -> CachePolicy:
    """A CPU measures warm, whatever the plan says."""
    on_cpu = entry.environment is not None and entry.environment.device == "cpu"
    return CachePolicy.WARM if on_cpu else entry.plan.cache


def _right(entry: Entry) -> tuple[str, ...]:
    """Of the operation's module; what passes is computed only where the run does not tell it."""
    return ("reference",) if allowed(entry) is not None else ("reference", "error_allowed")


def _bare(definition: Definition) -> tuple[Definition, Definition | None]:
    """The implementation without `within`, and `CONTEXT`, which makes what it had there."""
    node = definition.node
    assert isinstance(node, ast.FunctionDef), "implementations are plain functions"
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "within":
            offset = len(definition.lines) - (node.end_lineno or 0)
            first, last = decorator.lineno + offset - 1, (decorator.end_lineno or 0) + offset
            argument = re.sub(
                r"^\s*@within\((.*)\)\s*$", r"\1", "\n".join(definition.lines[first:last]), flags=re.DOTALL
            )
            bare = "\n".join([*definition.lines[:first], *definition.lines[last:]])
            return _definition(definition.module, bare), _definition(definition.module, f"CONTEXT = {argument}{NOTE}")
    return definition, None


def _definition(name: str, text: str) -> Definition:
    node = ast.parse(text).body[0]
    defined = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else text.partition(" ")[0]
    return Definition(name, defined, node, tuple(text.splitlines()))
