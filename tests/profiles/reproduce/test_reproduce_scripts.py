"""Every variant's script: runs with torch alone, has Fusescope's own inputs and error, and reads like our own code."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from profiles import catalog
from profiles.measure import executions, loading
from profiles.measure.correctness import check
from profiles.measure.yardstick import yardstick
from profiles.operations.implementation import parts
from profiles.plan import CachePolicy
from profiles.reproduce.script import reproducer
from profiles.variant import Execution, parse_variant
from tests.profiles.reproduce.alone import ABSENT, EVERY, H200, OURS, WORKLOADS, checked, entry, ran, succeeded

DEVICE = torch.device("cpu")
IMPLEMENTATIONS = [(operation, variant) for operation, variant in EVERY if "@" not in variant]
ONLY_CUDA = {"sdpa_efficient", "sdpa_cudnn"}


COMPILED = [  # one of each mode: compiling takes seconds, and the text of every other one is compared below
    ("swiglu", "unfused@compile"),
    ("residual_rms_norm", "functional@compile-reduce-overhead"),
    ("residual_rms_norm", "unfused@compile-max-autotune"),
]


def runs_on_a_cpu(variant: str) -> bool:
    return variant not in ONLY_CUDA


def test_a_compiled_script_of_each_mode_is_run_here() -> None:
    modes = {parse_variant(variant).execution for _, variant in COMPILED}
    assert modes == {execution for execution in Execution if execution.compiles}


@pytest.mark.parametrize(("operation", "variant"), [*(p for p in IMPLEMENTATIONS if runs_on_a_cpu(p[1])), *COMPILED])
def test_a_script_runs_with_torch_alone(operation: str, variant: str, tmp_path: Path) -> None:
    absent = OURS if operation == "decoder_prefill" else ABSENT
    told = ran(reproducer(entry(operation, variant)).text, tmp_path, "--samples", "3", absent=absent)
    assert (told.returncode, told.stderr) == (0, "")
    verdict, head, time = told.stdout.splitlines()
    assert verdict.startswith("correct: relative L2 error ")
    assert head.split() == ["here,", "CPU", "Fusescope,", "a", "processor"]
    assert re.fullmatch(r"call_time +[\d,.]+ (µs|ms) \([\d,.]+–[\d,.]+\) +50\.0 µs \(40\.0–60\.0\)", time)


@pytest.mark.parametrize("variant", ["sdpa_efficient", "sdpa_cudnn"])
def test_a_script_of_what_a_cpu_cannot_run_ends_with_torchs_own_reason(variant: str, tmp_path: Path) -> None:
    told = ran(reproducer(entry("attention", variant)).text, tmp_path)
    assert told.returncode == 1
    assert "RuntimeError" in told.stderr


def test_a_script_calls_a_wrong_output_incorrect_and_times_nothing(tmp_path: Path) -> None:
    text = reproducer(entry("attention", "naive")).text
    wrong = text.replace("return scores * a.scale", "return scores * a.scale * 1.1")
    assert wrong != text
    told = ran(wrong, tmp_path)
    assert told.returncode == 1
    assert re.fullmatch(r"INCORRECT: relative L2 error .*\n", told.stdout)


@pytest.mark.parametrize(("operation", "variant"), IMPLEMENTATIONS)
def test_a_script_has_the_same_inputs_and_the_same_error(operation: str, variant: str, tmp_path: Path) -> None:
    workload = WORKLOADS[operation]
    script = loaded(reproducer(entry(operation, variant)).text, tmp_path)
    module = loading.operation_module(workload)
    inputs, made = module.inputs(workload, DEVICE), script["make_inputs"](DEVICE)
    assert tensors(made).keys() == tensors(inputs).keys() != set()
    assert all(torch.equal(tensors(made)[name], value) for name, value in tensors(inputs).items())
    if variant not in ONLY_CUDA:
        function, context = parts(loading.implementation(workload, variant))
        with torch.no_grad(), context(inputs):
            measured = check(lambda: function(inputs), yardstick(module, workload, inputs))
        with torch.no_grad(), script.get("CONTEXT", lambda _: nullcontext())(made):
            error = script["relative_error"](script[variant](made), script["reference"](made))
        assert error == pytest.approx(measured.relative_l2, rel=1e-6)
        assert script["error_allowed"]() == module.error_allowed(workload)


def test_scripts_please_a_linter_and_a_formatter(tmp_path: Path) -> None:
    for operation, variant in EVERY:
        for cache in CachePolicy:
            made = reproducer(entry(operation, variant, cache=cache, environment=H200))
            (tmp_path / f"{cache}_{made.filename}").write_text(made.text, encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == len(EVERY) * len(CachePolicy)
    assert ruff("check", str(tmp_path)) == "All checks passed!\n"
    told = ruff("format", "--check", "--line-length", "120", str(tmp_path))
    assert re.fullmatch(r"\d+ files already formatted\n", told), told


@pytest.mark.parametrize(("operation", "variant"), EVERY)
def test_a_script_imports_torch_and_the_standard_library_alone(operation: str, variant: str) -> None:
    text = reproducer(entry(operation, variant, environment=H200)).text
    packages = {module.partition(".")[0] for module in imported(text)}
    assert packages - sys.stdlib_module_names == {"torch"}


@pytest.mark.parametrize("execution", [e for e in Execution if e.compiles])
def test_a_script_compiles_as_the_measuring_process_does(execution: Execution, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def compiled(_: Any, **options: Any) -> Any:
        asked.update(options)
        return lambda inputs: inputs

    monkeypatch.setattr(torch, "compile", compiled)
    executions._compiled(lambda inputs: inputs, execution, "cuda")
    call = called(reproducer(entry("swiglu", f"unfused@{execution}")).text, "torch.compile")
    written = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    mode: str | None = written.pop("mode", None)
    inductor: Any = torch._inductor
    assert asked.pop("options") == (dict(inductor.list_mode_options(mode)) if mode is not None else {})
    assert asked == written


def test_a_script_without_stages_marks_or_other_implementations_stays_short() -> None:
    run = checked(succeeded("naive"), tolerance=1e-5)
    text = reproducer(entry("attention", "naive", environment=H200, run=run)).text
    assert not re.search(r"stage|marking|sdpa|workload: |Receipt|Workload", text)
    assert len(text.splitlines()) < 320


def loaded(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return runpy.run_path(str(path))


def tensors(inputs: Any) -> dict[str, torch.Tensor]:
    """By field, a model's by its own names."""
    found = {name: getattr(inputs, name) for name in type(inputs).__dataclass_fields__}
    models = [value for value in found.values() if isinstance(value, torch.nn.Module)]
    held = {name: value for model in models for name, value in model.state_dict().items()}
    return {name: value for name, value in found.items() if isinstance(value, torch.Tensor)} | held


def ruff(*arguments: str) -> str:
    command = [sys.executable, "-m", "ruff", arguments[0], "--isolated", "--no-cache", *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def imported(text: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(text)))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return whole | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def called(text: str, name: str) -> ast.Call:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return next(call for call in calls if ast.unparse(call.func) == name)


def test_every_operation_of_the_catalogue_has_a_small_workload_here() -> None:
    assert WORKLOADS.keys() == {operation.name for operation in catalog.OPERATIONS}
