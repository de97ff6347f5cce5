"""Source text cut out and rewritten: nothing but marks and our own types goes, nothing from a file comes in."""

from __future__ import annotations

import ast

import msgspec
import pytest

from profiles import catalog
from profiles.environment import Environment
from profiles.measure import gpu_time
from profiles.plan import CachePolicy
from profiles.reproduce.errors import ReproduceError
from profiles.reproduce.marks import without_marks
from profiles.reproduce.modules import Imported, Module, module, module_of
from profiles.reproduce.names import names
from profiles.reproduce.reach import reached
from profiles.reproduce.rewriting import rewritten
from profiles.reproduce.script import filename, reproducer
from profiles.results import Failure, FailureKind, RunStatus
from tests.profiles.operations import small
from tests.profiles.reproduce.alone import CPU, H200, checked, entry, refused, succeeded


def test_a_stage_is_replaced_by_what_runs_in_it() -> None:
    source = """def f(x):
    with stage("a"):  # told
        # why
        y = x + 1
        if y:
            with stage("b", "c"):
                y = y * 2
    return y
"""
    assert (
        without_marks(source)
        == """def f(x):
    # why
    y = x + 1
    if y:
        y = y * 2
    return y
"""
    )


def test_what_is_done_only_while_stages_are_marked_goes() -> None:
    assert without_marks("a = f(x) if marking() and x.y else g(x)\n") == "a = g(x)\n"


def test_other_contexts_stay() -> None:
    source = "with open(name) as file, lock:\n    file.read()\n"
    assert without_marks(source) == source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(workload: Workload) -> int:\n    return 1\n", "def f() -> int:\n    return 1\n"),
        ("def f(a: int, workload: Workload, *, b: int) -> None: ...\n", "def f(a: int, *, b: int) -> None: ...\n"),
        ("def f(w: Workload) -> int:\n    return g(1, w, w.axes)\n", "def f() -> int:\n    return g(1, AXES)\n"),
        ("def f(w: Workload) -> int:\n    return g(of=w, s=w.seed)\n", "def f() -> int:\n    return g(s=SEED)\n"),
        ('def f(w: Workload) -> str:\n    return f"µ {w.dtype!r}"\n', 'def f() -> str:\n    return f"µ {DTYPE!r}"\n'),
        (
            "def f(a: DType) -> bool:\n    return a is not DType.BF16\n",
            'def f(a: str) -> bool:\n    return a != "bf16"\n',
        ),
        ('a = {DType.BF16: 1, "µ": DType.FP16}\n', 'a = {"bf16": 1, "µ": "fp16"}\n'),
        ("a = tolerance.of(b.tolerance.of)\n", "a = of(b.tolerance.of)\n"),
        ("a = g(\n    DType.BF16\n)\n", 'a = g("bf16")\n'),
        ("def f(dtype: str) -> str:\n    return other.dtype\n", "def f(dtype: str) -> str:\n    return other.dtype\n"),
    ],
)
def test_our_own_types_become_plain_values(before: str, after: str) -> None:
    types = {"DType": {"BF16": "bf16", "FP16": "fp16"}}
    assert rewritten(before, enumerations=types, aliases={"tolerance": "profiles.tolerance"}).source == after


def test_a_name_is_one_of_the_module_unless_something_nearer_has_it() -> None:
    text = """@decorated
def f(a: Typed, b=default):
    c = used + a
    def g(used_inside):
        return used_inside + global_one + c
    return [d.attribute for d in g(c)]
"""
    assert names(text) == {"decorated", "Typed", "default", "used", "global_one"}


MODULES = {
    "profiles.a": module_of(
        "profiles.a",
        """from profiles import b
from profiles.b import Thing, size
import math

# Why it is two.
TWO = 2


class Local:
    value: int = TWO

    def used(self):
        return math.pi

    @property
    def unused(self):
        return nowhere


def root(local: Local, inputs):
    return local.used() + size(inputs) + TWO
""",
        {},
    ),
    "profiles.b": module_of("profiles.b", "def size(x):\n    return other(x)\n\n\ndef other(x):\n    return x\n", {}),
}


def find(name: str) -> Module:
    return MODULES[name]


def test_only_what_is_reached_comes_along_with_the_methods_in_use() -> None:
    parts = reached([MODULES["profiles.a"].definitions["root"]], find)
    assert {d.name for d in parts} == {"root", "Local", "TWO", "size", "other"}
    texts = {d.name: part.text for d, part in parts.items()}
    assert texts["TWO"] == "# Why it is two.\nTWO = 2"
    assert "def used" in texts["Local"]
    assert "unused" not in texts["Local"]
    assert {name: one for part in parts.values() for name, one in part.imports.items()} == {"math": Imported("math")}


def test_a_name_that_means_two_things_is_refused() -> None:
    twice = module_of("profiles.c", "from profiles.b import size\n\n\ndef size(x):\n    return size(x)\n", {})
    with pytest.raises(ReproduceError, match="two things named 'size'"):
        reached([twice.definitions["size"]], {**MODULES, "profiles.c": twice}.__getitem__)


def test_a_module_is_read_without_being_imported() -> None:
    assert "naive" in module("profiles.operations.attention").definitions
    with pytest.raises(ReproduceError, match=r"profiles\.operations\.nothing is not installed"):
        module("profiles.operations.nothing")


HOSTILE = '"""\nimport os  # \\"\\"\\"\n\u202e{open}\x00"'


def test_words_of_a_file_become_no_code() -> None:
    environment = msgspec.structs.replace(H200, device_name=HOSTILE, torch=HOSTILE, driver=HOSTILE)
    failure = Failure(kind=FailureKind.INTERNAL, message=HOSTILE)
    run = msgspec.structs.replace(succeeded("naive"), status=RunStatus.FAILED, failure=failure)
    honest = ast.parse(reproducer(entry(run=run, environment=H200)).text)
    tree = ast.parse(reproducer(entry(run=run, environment=environment)).text)
    assert isinstance(ast.get_docstring(tree), str)
    names_of = [ast.unparse(node) for node in honest.body[1:]]
    differing = [ast.unparse(n) for n, before in zip(tree.body[1:], names_of, strict=True) if ast.unparse(n) != before]
    assert differing == ["MEASURED_ON = \"''' import os # /'/'/' {open} '\""]


@pytest.mark.parametrize(
    ("operation", "variant", "said"),
    [("attention", "os.system", "unknown implementation 'os.system'"), ("attention", "naive@compile", "no execution")],
)
def test_what_the_catalogue_does_not_have_is_refused(operation: str, variant: str, said: str) -> None:
    with pytest.raises(ReproduceError, match=said):
        reproducer(entry(operation, variant))


def test_a_workload_that_no_catalogue_would_take_is_refused() -> None:
    odd = msgspec.structs.replace(small.attention(), axes={**small.attention().axes, "batch": "__import__('os')"})
    with pytest.raises(ReproduceError, match="axis 'batch'"):
        reproducer(entry(workload=odd))


def test_a_refused_run_has_a_script_that_says_why() -> None:
    run = refused("sdpa_cudnn", "torch has no cuDNN attention for CPU tensors")
    text = reproducer(entry(variant="sdpa_cudnn", run=run)).text
    assert "Fusescope could not time it: refused: torch has no cuDNN attention for CPU tensors" in " ".join(
        text.split()
    )
    assert "\nMEASURED = {}\n" in text


def test_the_script_says_what_was_measured_where_and_how() -> None:
    head = ast.get_docstring(ast.parse(reproducer(entry(environment=H200)).text))
    assert head is not None
    told = " ".join(head.split())
    assert told.startswith("attention/naive, B2 H4 S48 D16, causal, fp32: ")
    assert "python attention_naive_B2_H4_S48_D16_causal_fp32.py" in told
    assert "back-to-back time 50.0 µs (p25-p75 40.0–60.0)" in told
    assert "On NVIDIA H200, torch 2.11.0, CUDA 13.0, Python 3.12.3, cold cache." in told


def test_where_a_gate_holds_no_call_the_script_says_so() -> None:
    time = succeeded("naive").metrics[0]
    notes = {
        method: "No gate holds such a call" in reproducer(entry(run=msgspec.structs.replace(run, metrics=(one,)))).text
        for method in (None, gpu_time.METHOD, "graph replay")
        for run, one in [(succeeded("naive"), msgspec.structs.replace(time, name="gpu_time", method=method))]
    }
    assert notes == {None: False, gpu_time.METHOD: False, "graph replay": True}


def test_what_passes_is_what_passed_in_the_run() -> None:
    text = reproducer(entry(run=checked(succeeded("naive"), tolerance=0.25))).text
    assert "\nALLOWED = 0.25  # relative L2 error that passes\n" in text
    assert "error_allowed" not in text


def test_where_rows_were_wrong_rows_are_checked() -> None:
    run = checked(succeeded("naive"), tolerance=0.25)
    assert run.correctness is not None
    rows = msgspec.structs.replace(run.correctness, rows=96, rows_wrong=2, row_error=1.0, row_allowed=0.5, passed=False)
    text = reproducer(entry(run=msgspec.structs.replace(run, correctness=rows))).text
    assert "\nROW_ALLOWED = 0.5 " in text
    assert "correct = error <= allowed and row_error <= ROW_ALLOWED" in text


def test_caches_are_as_the_plan_says_and_warm_on_a_cpu() -> None:
    def inputs_line(cache: CachePolicy, environment: Environment, variant: str = "unfused") -> str:
        text = reproducer(entry("swiglu", variant, cache=cache, environment=environment)).text
        return next(line.strip() for line in text.splitlines() if line.startswith("    inputs = "))

    graphs = "unfused@compile-reduce-overhead"
    assert inputs_line(CachePolicy.COLD, H200) == "inputs = copies(first, tensors(first), device)"
    assert inputs_line(CachePolicy.IN_CONTEXT, H200) == (
        "inputs = copies(first, weights(first), device, shared=[*activations(first)])"
    )
    assert inputs_line(CachePolicy.COLD, H200, graphs) == (
        "inputs = copies(first, tensors(first), device, shared=[*weights(first)])"
    )
    assert inputs_line(CachePolicy.COLD, H200, "unfused@cudagraph") == (
        "inputs = copies(first, tensors(first), device, most=8)"
    )
    assert inputs_line(CachePolicy.WARM, H200) == "inputs = [first]"
    assert inputs_line(CachePolicy.COLD, CPU) == "inputs = [first]"


def test_a_filename_holds_nothing_that_a_shell_or_a_header_would_read() -> None:
    assert filename(entry("residual_rms_norm", "unfused@compile")) == "residual_rms_norm_unfused_compile_24x64_fp32.py"
    assert filename(entry(variant='a"/../b')) == "attention_a_.._b_B2_H4_S48_D16_causal_fp32.py"


def test_the_catalogues_operations_have_the_names_that_scripts_are_made_from() -> None:
    for operation in catalog.OPERATIONS:
        assert {"inputs", "reference", "error_allowed"} <= module(operation.module).definitions.keys()
