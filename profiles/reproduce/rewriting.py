"""A module's source text in the words of a script: the workload as constants, names of our own types as their values.

`workload.axes` becomes `AXES` and the parameter goes; `Distribution.NORMAL` becomes `"normal"`; `tolerance.of_dtype`
becomes `of_dtype`, since all definitions end up in one file.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from profiles.reproduce.edits import Edit, Text

PARAMETER_TYPE = "Workload"
CONSTANTS = {
    "operation": "OPERATION",
    "axes": "AXES",
    "dtype": "DTYPE",
    "distribution": "DISTRIBUTION",
    "seed": "SEED",
}
WIDTH = 120
SPLIT = re.compile(
    r"^(?P<head>[^#\n]*[(\[{])\n +(?P<body>[^#\n]*[^#\n,(\[{])\n *(?P<tail>[)\]}][^#\n]*)$", re.MULTILINE
)
IDENTITY = {ast.Is: "==", ast.IsNot: "!="}

Enumerations = Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class Rewritten:
    """`qualified` are the names that were written with a module of ours before them: name → module."""

    source: str
    qualified: dict[str, str] = field(default_factory=dict)


def rewritten(source: str, *, enumerations: Enumerations, aliases: Mapping[str, str]) -> Rewritten:
    """`enumerations` by the names that they have here (member → value), `aliases` of our own modules."""
    text = Text(source)
    rewriting = _Rewriting(text, enumerations, aliases)
    rewriting.visit(ast.parse(source))
    return Rewritten(SPLIT.sub(_joined, text.edited(rewriting.edits)), rewriting.qualified)


def _joined(split: re.Match[str]) -> str:
    """What was written on three lines, on one where it fits now."""
    line = f"{split['head']}{split['body']}{split['tail']}"
    return line if len(line) <= WIDTH else split[0]


class _Rewriting(ast.NodeVisitor):
    def __init__(self, text: Text, enumerations: Enumerations, aliases: Mapping[str, str]) -> None:
        self._text, self._enumerations, self._aliases = text, enumerations, aliases
        self._workloads: list[str] = []  # the parameters of that type in the functions around
        self.edits: list[Edit] = []
        self.qualified: dict[str, str] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        found = [argument for argument in node.args.args if _is_workload(argument.annotation)]
        self.edits += [self._text.removing(argument) for argument in found]
        self._workloads += [argument.arg for argument in found]
        arguments = [argument for argument in _arguments(node.args) if argument not in found]
        for annotation in [*(argument.annotation for argument in arguments), node.returns]:
            self._annotation(annotation)
        for child in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]:
            self.visit(child)
        del self._workloads[len(self._workloads) - len(found) :]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.value, ast.Name):
            self.generic_visit(node)
            return
        owner = node.value.id
        if owner in self._workloads and node.attr in CONSTANTS:
            self.edits.append(self._text.replacing(node, CONSTANTS[node.attr]))
        elif owner in self._aliases:
            self.edits.append(self._text.replacing(node, node.attr))
            self.qualified[node.attr] = self._aliases[owner]
        elif (value := self._enumerations.get(owner, {}).get(node.attr)) is not None:
            self.edits.append(self._text.replacing(node, json.dumps(value)))

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        every: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        for passed in every:
            value = passed.value if isinstance(passed, ast.keyword) else passed
            if isinstance(value, ast.Name) and value.id in self._workloads:
                self.edits.append(self._text.removing(passed))
            else:
                self.visit(value)

    def visit_Compare(self, node: ast.Compare) -> None:
        """A member of an enumeration is compared by identity, its value by equality."""
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if type(operator) in IDENTITY and self._is_member(right):
                start, end = self._text.span(left)[1], self._text.span(right)[0]
                self.edits.append(Edit(start, end, f" {IDENTITY[type(operator)]} "))
            left = right
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """As text: before Python 3.12 the tree does not say where the parts of an f-string are."""
        written = self._text.of(node)
        replaced = written
        for workload in self._workloads:
            pattern = rf"\b{workload}\.({'|'.join(CONSTANTS)})\b"
            replaced = re.sub(pattern, lambda found: CONSTANTS[found[1]], replaced)
        if replaced != written:
            self.edits.append(self._text.replacing(node, replaced))

    def _is_member(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in self._enumerations.get(node.value.id, {})
        )

    def _annotation(self, annotation: ast.expr | None) -> None:
        for node in ast.walk(annotation) if annotation is not None else ():
            if isinstance(node, ast.Name) and node.id in self._enumerations:
                self.edits.append(self._text.replacing(node, "str"))


def _is_workload(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == PARAMETER_TYPE


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [argument for argument in every if argument is not None]
