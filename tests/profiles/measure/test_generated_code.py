"""Reading what inductor wrote: which kernels, and the operators that each one swallowed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from profiles.compilation import FusedKernel
from profiles.measure.compile_report import after_first_call, so_far
from profiles.measure.generated_code import fused_kernels, written_code
from profiles.measure.subject import build
from profiles.operations import swiglu
from profiles.workload import DType, Workload

# Abridged from what inductor writes for a SwiGLU on CUDA.
TRITON = """# AOT ID: ['0_inference']
from torch._inductor.async_compile import AsyncCompile
async_compile = AsyncCompile()

# kernel path: /tmp/torchinductor/ab/cabc.py
# Topologically Sorted Source Nodes: [activated, product], Original ATen: [aten.silu, aten.mul]
# Source node to ATen node mapping:
#   activated => mul, sigmoid
# Graph fragment:
#   %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mm, %sigmoid), kwargs = {})
triton_poi_fused_mul_silu_0 = async_compile.triton('triton_poi_fused_mul_silu_0', '''
import triton
''', device_str='cuda')

def call(args):
    # Topologically Sorted Source Nodes: [gate], Original ATen: [aten.t, aten.mm]
    extern_kernels.mm(arg0_1, reinterpret_tensor(arg1_1, (64, 64), (1, 64), 0), out=buf0)
    # Topologically Sorted Source Nodes: [activated, product], Original ATen: [aten.silu, aten.mul]
    triton_poi_fused_mul_silu_0.run(buf2, buf1, 4096, stream=stream0)
    return (buf3, )
"""


def test_the_operators_above_a_triton_kernel_are_its_own() -> None:
    assert fused_kernels(TRITON) == (FusedKernel(name="triton_poi_fused_mul_silu_0", operators=("silu", "mul")),)


def test_a_comment_about_a_call_is_no_comment_about_the_next_kernel() -> None:
    code = f"{TRITON}\n\ncpp_fused_add_1 = async_compile.cpp_pybinding(['float*'], r'''"
    assert fused_kernels(code)[-1] == FusedKernel(name="cpp_fused_add_1", operators=("add",))


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("cpp_fused_mul_silu_0", ("mul", "silu")),
        ("cpp_fused__softmax_0", ("_softmax",)),
        ("cpp_fused__to_copy_native_layer_norm_mul_3", ("_to_copy", "native_layer_norm", "mul")),
        ("triton_red_fused_mean_pow_12", ("mean", "pow")),
        ("cpp_fused_nobody_knows_this_0", ("nobody_knows_this",)),
        ("cpp_fused_0", ()),
    ],
)
def test_without_a_comment_the_name_tells_the_operators(name: str, operators: tuple[str, ...]) -> None:
    code = f"{name} = async_compile.triton('{name}', '''"
    assert fused_kernels(code) == (FusedKernel(name=name, operators=operators),)


def test_two_graphs_with_a_kernel_of_one_name_add_their_operators() -> None:
    one = "# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]\nk_0 = async_compile.triton('k_0', '''\n"
    assert fused_kernels(one + one.replace("aten.add", "aten.mul, aten.add"))[0].operators == ("add", "mul")


def test_wrappers_are_read_in_the_order_of_their_graphs_and_kernels_files_are_not(tmp_path: Path) -> None:
    for number in (10, 2):
        (tmp_path / f"c{number}.py").write_text(f"# AOT ID: ['{number}_inference']\n")
    (tmp_path / "kernel.py").write_text("import triton\n")
    assert written_code(tmp_path) == "# AOT ID: ['2_inference']\n\n\n# AOT ID: ['10_inference']\n"


# Inductor imports a part of torch that warns of itself.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_first_call_leaves_its_code_its_kernels_and_its_stages(tmp_path: Path) -> None:
    torch._dynamo.reset()
    workload = Workload(operation="swiglu", axes={"rows": 8, "width": 16, "hidden": 24}, dtype=DType.FP32)
    cpu = torch.device("cpu")
    inputs = swiglu.inputs(workload, cpu)
    subject = build(workload, "unfused@compile", inputs, device=cpu, compile_caches=tmp_path / "caches")
    with torch.no_grad(), subject.context():
        subject.call()
    report = after_first_call(subject, tmp_path)
    assert report is not None
    (kernel,) = report.compilation.kernels
    assert set(kernel.operators) == {"mul", "silu"}
    assert report.compilation.graphs == 1
    assert report.compilation.stages_s.keys() >= {"dynamo", "inductor", "code"}
    assert sum(report.compilation.stages_s.values()) == pytest.approx(report.compilation.compile_s, rel=0.05)
    (artefact,) = report.artefacts
    assert kernel.name in (tmp_path / artefact.sha256).read_text()
    assert artefact.size_bytes == (tmp_path / artefact.sha256).stat().st_size
    later = so_far(subject, report)
    assert later is not None
    assert later.kernels == report.compilation.kernels


def test_an_eager_variant_has_no_compilation(tmp_path: Path) -> None:
    workload = Workload(operation="swiglu", axes={"rows": 8, "width": 16, "hidden": 24}, dtype=DType.FP32)
    cpu = torch.device("cpu")
    subject = build(workload, "unfused", swiglu.inputs(workload, cpu), device=cpu, compile_caches=tmp_path)
    assert (after_first_call(subject, tmp_path), so_far(subject, None)) == (None, None)
