"""Roles and short names of kernels as real libraries name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiles.results import Role
from profiles.trace.model import SliceKind
from profiles.trace.names import short_name, short_names
from profiles.trace.read import read_trace
from profiles.trace.roles import role_of

NATIVE = "void at::native::"
KERNELS = [
    ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", Role.GEMM, "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"),
    (
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x"
        "_cublas",
        Role.GEMM,
        "sm90_xmma_gemm tilesize128x128x64",
    ),
    (
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>"
        "(cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4::Params)",
        Role.GEMM,
        "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_ali…",
    ),
    (
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x192x64_MI16x16x1_SN_LDSB1_AFC1",
        Role.GEMM,
        "Cijk_Alik_Bljk_BBS_BH MT128x192x64",
    ),
    ("volta_sgemm_128x32_tn", Role.GEMM, "volta_sgemm_128x32_tn"),
    (
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::half_t>"
        ", false, true>(pytorch_flash::Flash_fwd_params)",
        Role.ATTENTION,
        "flash_fwd_kernel",
    ),
    (
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_kernel0_0",
        Role.ATTENTION,
        "cudnn sdpa sm90 flash_fprop",
    ),
    (
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t>::Params)",
        Role.ATTENTION,
        "fmha_cutlassF_bf16_aligned_64x64",
    ),
    ("triton_tem_fused_flex_attention_0", Role.ATTENTION, "triton_tem_fused_flex_attention_0"),
    (
        "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 8, false, false>"
        "(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)",
        Role.SOFTMAX,
        "softmax_warp_forward",
    ),
    (
        f"{NATIVE}(anonymous namespace)::cunn_SoftMaxForwardSmem<8, float>(float*)",
        Role.SOFTMAX,
        "cunn_SoftMaxForwardSmem",
    ),
    (
        "triton_red_fused__softmax_masked_fill_mul_view_0",
        Role.SOFTMAX,
        "triton_red_fused__softmax_masked_fill_mul_view_0",
    ),
    (
        f"{NATIVE}(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float)",
        Role.NORM,
        "vectorized_layer_norm_kernel",
    ),
    (
        "triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_0",
        Role.NORM,
        "triton_per_fused__to_copy_add_mean_mul_pow_rsqr…",
    ),
    (
        f"{NATIVE}vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float,"
        " at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, x)",
        Role.POINTWISE,
        "mul elementwise",
    ),
    (
        f"{NATIVE}vectorized_elementwise_kernel<4, at::native::CUDAFunctorOnSelf_add<float>, std::array<char*> >(int)",
        Role.POINTWISE,
        "add elementwise",
    ),
    (
        f"{NATIVE}elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::"
        "masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const> >(int, x)",
        Role.POINTWISE,
        "masked_fill elementwise",
    ),
    ("triton_poi_fused_mul_silu_0", Role.POINTWISE, "triton_poi_fused_mul_silu_0"),
    ("graph_2_cpp_fused_mul_silu_0", Role.POINTWISE, "cpp_fused_mul_silu_0"),
    (
        f"{NATIVE}unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#3}}"
        "::operator()() const, std::array<char*, 2ul> >(int, x)",
        Role.COPY,
        "direct_copy elementwise",
    ),
    ("triton_poi_fused_clone_transpose_21", Role.COPY, "triton_poi_fused_clone_transpose_21"),
    ("Memcpy DtoD (Device -> Device)", Role.COPY, "Memcpy DtoD"),
    ("Memset (Device)", Role.FILL, "Memset"),
    (f"{NATIVE}vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, x>(int)", Role.FILL, "fill elementwise"),
    (
        f"{NATIVE}reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>, int> >(x)",
        Role.REDUCTION,
        "mean reduce",
    ),
    (
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        Role.COMMUNICATION,
        "ncclKernel_AllReduce_RING_LL_Sum_float",
    ),
    ("void cublasLt::splitKreduce_kernel<32, 16, int, float>(x)", Role.HELPER, "splitKreduce_kernel"),
    ("void flash_fwd_splitkv_combine_kernel<traits<64> >(x)", Role.HELPER, "flash_fwd_splitkv_combine_kernel"),
    (
        "void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<cutlass::MatrixShape<4, 128>, float> >(x)",
        Role.HELPER,
        "ReduceSplitK",
    ),
    (
        "void cudnn::ops::scalePackedTensor_kernel<float, float>(long, float*, float)",
        Role.HELPER,
        "scalePackedTensor_kernel",
    ),
    (
        f"{NATIVE}(anonymous namespace)::multi_tensor_apply_kernel<{NATIVE[5:]}(anonymous namespace)::"
        f"TensorListMetadata<2>, {NATIVE[5:]}(anonymous namespace)::CopyFunctor<c10::BFloat16, c10::BFloat16, 2, 1>, "
        f"{NATIVE[5:]}Copy<c10::BFloat16, c10::BFloat16> >(x)",
        Role.HELPER,
        "multi_tensor_apply_kernel",
    ),
    ("__amd_rocclr_fillBufferAligned", Role.FILL, "__amd_rocclr_fillBufferAligned"),
    ("__amd_rocclr_copyBuffer", Role.COPY, "__amd_rocclr_copyBuffer"),
    ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16EEEvPT0_PT_", Role.NORM, "add_rmsnorm_quant_kernel"),
    ("rotary_embedding_kernel<float>(x)", Role.POINTWISE, "rotary_embedding_kernel"),
    ("store_kvcache(float*)", Role.OTHER, "store_kvcache"),
    ("aten::bmm", Role.GEMM, "bmm"),
    ("aten::copy_", Role.COPY, "copy_"),
    ("aten::masked_fill_", Role.POINTWISE, "masked_fill_"),
    ("aten::_softmax", Role.SOFTMAX, "_softmax"),
    ("aten::native_layer_norm", Role.NORM, "native_layer_norm"),
    ("aten::sum", Role.REDUCTION, "sum"),
    ("aten::fill_", Role.FILL, "fill_"),
]


@pytest.mark.parametrize(("name", "role", "short"), KERNELS)
def test_a_kernel_as_libraries_name_it(name: str, role: Role, short: str) -> None:
    assert role_of(name) is role
    assert short_name(name) == short


def test_short_names_of_one_trace_differ_by_type_then_by_number() -> None:
    adds = [
        f"{NATIVE}vectorized_elementwise_kernel<{width}, at::native::CUDAFunctor_add<{dtype}>, x>(int)"
        for width, dtype in [(4, "float"), (8, "c10::BFloat16"), (2, "float")]
    ]
    assert short_names([*adds, "aten::add"]) == (
        "add elementwise fp32",
        "add elementwise bf16",
        "add elementwise fp32 #2",
        "add",
    )


def test_every_kernel_of_the_public_traces_has_a_short_name_of_its_own(public_traces: Path) -> None:
    """And nearly all time is spent in kernels whose role is known."""
    known = total = 0
    for prefix in ("15", "16", "17", "18", "21", "24"):
        trace = read_trace(next(public_traces.glob(f"{prefix}_*")))
        kernels = trace.slices.of(SliceKind.KERNEL)
        names = sorted({trace.names[index] for index in trace.slices.name[kernels]})
        shorts = short_names(names)
        assert len(set(shorts)) == len(names)
        assert all(0 < len(short) < 64 for short in shorts)
        for index, duration in zip(trace.slices.name[kernels], trace.slices.duration_ns[kernels], strict=True):
            total += int(duration)
            known += int(duration) if role_of(trace.names[index]) is not Role.OTHER else 0
    assert known > 0.97 * total
