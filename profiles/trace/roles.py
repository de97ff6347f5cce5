"""What a kernel (or a CPU operator) does, by its name."""

from __future__ import annotations

import re
from functools import lru_cache

from profiles.results import Role
from profiles.trace.names import without_parameters

# The first pattern found anywhere in the name decides, so the order is from the telling to the vague: a fused
# attention kernel also says "gemm" somewhere, and an elementwise one names its functor.
_RULES: tuple[tuple[Role, str], ...] = (
    (Role.COPY, r"^Memcpy|^(Device|Host)To(Device|Host)|rocclr_copyBuffer"),
    (Role.FILL, r"^Memset|rocclr_fillBuffer|^memset\d*_"),
    (
        Role.COMMUNICATION,
        r"nccl|rccl|AllReduce|all_reduce|AllGather|ReduceScatter|cross_device_reduce|nvshmem|SendRecv",
    ),
    (
        Role.HELPER,
        r"splitK?_?reduce|split_k_reduce|splitKreduce|[rR]educeSplitK|SplitKOffsets|[Cc]ompute\w{0,64}Offsets"
        r"|flash_fwd_splitkv_combine|combine_kernel|kernel_prepare|prepare_varlen|PostGSU|_GSU\d*_postgsu"
        r"|philox|spin_kernel|indices_triton|scatter_?indices|scalePackedTensor|epilogue::impl::globalKernel"
        # torch copies the inputs of a CUDA graph into their places with one _foreach_copy_
        r"|multi_tensor_apply_kernel<.*::Copy<",
    ),
    (
        Role.ATTENTION,
        r"flash|fmha|attn|attention|sdpa|\bmha\b|sage_|paged_kv|mha_|flex_|BatchPrefill|BatchDecode|decode_grouped_att"
        r"|_fwd_grouped_kernel|_fwd_kernel_stage|mla_",
    ),
    (Role.SOFTMAX, r"(?i)softmax"),
    (
        Role.GEMM,
        r"gemm|gemv|\bmm\b|::(mm|bmm|addmm|baddbmm|addbmm|addmv|mv|dot|linear)$|nvjet|cutlass|xmma|Cijk_|cublas|scudnn"
        r"|hcudnn|wgmma|triton_(tem|mm|bmm)_?|matmul|\bdot_kernel|conv|winograd|MatMul|mlp_|_mm_|dgrad|wgrad|fprop"
        r"|miopenSp3|mkldnn_linear",
    ),
    (
        Role.NORM,
        r"layer_?norm|LayerNorm|rms_?norm|RMSNorm|RmsNorm|batch_?norm|BatchNorm|bn_(fw|bw)|group_?norm|GroupNorm"
        r"|instance_?norm|_norm\b|norm_kernel",
    ),
    (
        Role.COPY,
        r"direct_copy|copy_kernel|_copy_kernel|CatArray|batched_transpose|transpose\w{0,64}_kernel|::copy_$|copy_device"
        r"|Im2d2Col|im2col|nchwToNhwc|nhwcToNchw|ToNhwcKernel|LoadWithCast<1>.*direct_copy|::(cat|clone|contiguous)$"
        r"|gather_kernel|index\w{0,64}Select|index_elementwise|::(embedding|index|index_select|gather)$"
        r"|(?<!rotary_)embedding|indexing_backward|SubTensor",
    ),
    (
        Role.FILL,
        r"FillFunctor|(?<!masked_)fill_kernel|::(fill_|zero_|zeros|ones|full|arange)$|memset|arange|distribution_elementwise",
    ),
    (
        Role.REDUCTION,
        r"reduce|Reduce|reduction|DeviceScan|::(sum|mean|amax|amin|max|min|all|any|argmax|norm|var|std|prod|cumsum)$|cumsum|scan"
        r"|topk|TopK|sort|Sort|logsumexp",
    ),
    (
        Role.POINTWISE,
        r"elementwise|Functor|pointwise|multi_tensor_apply|act_and_mul|silu|gelu|relu|rotary|rope|dropout"
        r"|threshold|where|tril|triu|masked|quant|cast|OpTensor|bias_add|Activation"
        r"|::(add|sub|rsub|mul|div|neg|exp|log|pow|sqrt|rsqrt|sin|cos|tanh|sigmoid|silu|gelu|relu|where|tril|triu|clamp"
        r"|masked_fill|maximum|minimum|eq|ne|lt|le|gt|ge|isneginf|logical_\w+|bitwise_\w+|addcmul|addcdiv|abs|erf)_?$",
    ),
)
_COMPILED = tuple((role, re.compile(pattern)) for role, pattern in _RULES)
_JUDGED = 8192  # characters of a name: some patterns take time by the square of it
_FUSED = re.compile(r"^(?:graph_\d+_)?(?:triton|cpp)_(?P<kind>poi_|per_|red_|tem_|mm_)?fused_(?P<ops>\w+)")
_NORM = re.compile(r"(layer|rms|batch|group)_norm|rsqrt|var_mean|mean.*pow|pow.*mean")
_REDUCES = re.compile(r"(?:^|_)(sum|mean|amax|amin|argmax|prod|var|max|min)(?:_|$)")
_ONLY_MOVES = re.compile(r"(?:(?:clone|copy|cat|stack|view|reshape|transpose|permute|to_copy|expand|slice|\d+)_?|_)+")


@lru_cache(maxsize=16384)
def role_of(kernel_name: str) -> Role:
    """OTHER where the name says nothing. Generated kernels are judged by the operators fused into them."""
    judged = kernel_name[:_JUDGED]
    fused = _FUSED.match(judged)
    if fused:
        return _role_of_fused(fused["kind"] or "", fused["ops"])
    telling = without_parameters(judged)
    return next((role for role, pattern in _COMPILED if pattern.search(telling)), Role.OTHER)


def _role_of_fused(kind: str, ops: str) -> Role:
    """Inductor names what it fused and the kind of loop: a softmax or a norm in a reducing loop is what it is for."""
    if kind in ("tem_", "mm_"):
        return Role.ATTENTION if "flex_attention" in ops else Role.GEMM
    if kind == "poi_":
        return Role.COPY if _ONLY_MOVES.fullmatch(ops) else Role.POINTWISE
    if "softmax" in ops:
        return Role.SOFTMAX
    if _NORM.search(ops):
        return Role.NORM
    if kind or _REDUCES.search(ops):
        return Role.REDUCTION
    return Role.COPY if _ONLY_MOVES.fullmatch(ops) else Role.POINTWISE
