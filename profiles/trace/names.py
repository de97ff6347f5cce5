"""Short names for kernels: what tells them apart at a glance, without return types, arguments and namespaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from profiles.trace.printable import printable

_FUNCTORS = re.compile(
    r"(?:at::native::)?(?:\(anonymous namespace\)::|<unnamed>::)?"
    r"(?P<name>(?:CUDAFunctor(?:OnSelf|OnOther)?_\w+|\w+Functor|\w+_kernel(?:_cuda|_impl)?|launch_\w+|\w+KernelImpl|\w+_functor|\w+Ops))\b"
)
_WRAPPER_FUNCTORS = {"AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor", "CopyFunctor"}
_ELEMENTWISE = re.compile(
    r"\b(?:\w*elementwise_kernel\w*|reduce_kernel|multi_tensor_apply_kernel|index_elementwise\w*)\b"
)
_NOISE = re.compile(
    r"_?(?:CUDA)?(?:kernel|cuda|impl|Functor|functor|KernelImpl|Ops)(?=_|$)|^gpu_|^launch_|^CUDAFunctor(?:OnSelf|OnOther)?_"
)
_DTYPES = {"c10::BFloat16": "bf16", "c10::Half": "fp16", "__nv_bfloat16": "bf16", "__half": "fp16", "float": "fp32"}
_DTYPES |= {"double": "fp64", "long": "int64", "int": "int32", "bool": "bool"}
_DTYPE = re.compile(r"(?<=[<,( ])(" + "|".join(map(re.escape, _DTYPES)) + r")(?=[,>)])")
_LENGTH = re.compile(r"\d{1,5}")
_VAGUE = {"Kernel", "Kernel2", "kernel", "device_kernel"}
_LONGEST = 48
_JUDGED = 8192  # characters of a name; the longest of real kernels has about 3,000
_NAMELESS = "(no name)"


@lru_cache(maxsize=16384)
def short_name(kernel_name: str) -> str:
    """At most 48 characters, all of them printable; not unique: `short_names` makes those of one trace so."""
    name = printable(kernel_name[:_JUDGED].strip())
    return _shortened(_telling_part(name) or name or _NAMELESS)


def short_names(kernel_names: Sequence[str]) -> tuple[str, ...]:
    """One for each name, different for different names: those that coincide get their data type, then a number."""
    taken = Counter(short_name(name) for name in kernel_names)
    given: set[str] = set()
    numbers: Counter[str] = Counter()
    result: list[str] = []
    for name in kernel_names:
        short = short_name(name)
        dtype = _DTYPE.search(name, 0, _JUDGED) if taken[short] > 1 else None
        plain = unique = f"{short} {_DTYPES[dtype[1]]}" if dtype else short
        while unique in given:  # also where a name looks like another one's number
            numbers[plain] += 1
            unique = f"{plain} #{numbers[plain] + 1}"
        given.add(unique)
        result.append(unique)
    return tuple(result)


def without_parameters(kernel_name: str) -> str:
    """The name without its trailing list of parameters (template arguments stay)."""
    if not kernel_name.endswith(")"):
        return kernel_name
    depth = 0
    for at in range(len(kernel_name) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(kernel_name[at], 0)
        if depth == 0:
            return kernel_name[:at]
    return kernel_name


def _telling_part(name: str) -> str | None:
    if name.startswith(("Memcpy", "Memset")):
        return name.split(" (", maxsplit=1)[0]
    if "::" in name and "<" not in name and "(" not in name:
        return name.rsplit("::", 1)[-1]
    name = re.sub(r"^graph_\d+_", "", name)
    rules = (_generated_attention, _vendor_gemm, _elementwise, _mangled, _demangled)
    return next(filter(None, (rule(name) for rule in rules)), name)


def _generated_attention(name: str) -> str | None:
    """`cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_...` → `cudnn sdpa sm90 flash_fprop`."""
    found = re.match(r"cudnn_generated_\w*?sdpa_(sm\d+)_(\w+?(?:fprop|bprop))", name)
    return f"cudnn sdpa {found[1]} {found[2]}" if found else None


def _vendor_gemm(name: str) -> str | None:
    """The library's own name cut after its tile: the rest are tuning parameters."""
    for pattern in (
        r"(nvjet_(?:sm\d+_)?[a-z]+_\d+x\d+(?:x\d+)?\w*)",
        r"(Cijk_\w+?)_(?:Bias_|HA_S_|HAS_|SAV_|UserArgs_|AS_|S_)*(MT\d+x\d+x\d+)",
        r"(sm\d+_xmma_\w+?)_(?:bf16|f16|f32|tf32|i8)\w*?_(tilesize\d+x\d+x\d+)",
        r"(?:void )?(?:cutlass(?:_\w+)?::)+(?:device_)?(?:Kernel2?|kernel)<(?:\w+::)*(\w+)[^>]*>",
        r"(fmha_cutlass[FB]_\w+?(?:aligned_\d+x\d+|sm\d+))",
    ):
        found = re.match(pattern, name)
        if found:
            return " ".join(part for part in found.groups() if part)
    return None


def _elementwise(name: str) -> str | None:
    """`void at::native::vectorized_elementwise_kernel<4, …CUDAFunctor_add<float>…>` → `add elementwise`."""
    shape = _ELEMENTWISE.search(name.split("<", 1)[0])
    if not shape or "<" not in name:
        return None
    inside = name.split("<", 1)[1]
    functors = [found["name"] for found in _FUNCTORS.finditer(inside) if found["name"] not in _WRAPPER_FUNCTORS]
    functors = [functor for functor in functors if not functor.startswith(("gpu_kernel", "unrolled_", "func_wrapper"))]
    loop = "elementwise" if "elementwise" in shape[0] else shape[0].removesuffix("_kernel").removesuffix("_apply")
    return f"{_operation(functors[0])} {loop}" if functors else None


def _operation(functor: str) -> str:
    plain = _NOISE.sub("", functor).strip("_") or functor
    return plain[0].lower() + plain[1:]


def _mangled(name: str) -> str | None:
    """The last plain part of an Itanium-mangled nested name."""
    start = re.match(r"_ZN?K?", name)
    if not start:
        return None
    parts: list[str] = []
    at = start.end()
    while found := _LENGTH.match(name, at):
        length, at = int(found[0]), found.end()
        parts.append(name[at : at + length])
        at += length
    telling = [part for part in parts if not part.startswith("_GLOBAL__N")]
    if telling and telling[-1] in _VAGUE:
        return _first_template(_identifiers(name, at)) or telling[0]
    return telling[-1] if telling else None


def _identifiers(name: str, at: int) -> Iterator[str]:
    """All that a length stands before, nested ones included."""
    for length in _LENGTH.finditer(name, at):
        part = name[length.end() : length.end() + int(length[0])]
        if part[:1].isupper() and part.isidentifier():
            yield part


def _demangled(name: str) -> str | None:
    """`void ns::(anonymous namespace)::kernel<args>(args)` → `kernel`, of a nested template the outermost."""
    plain = re.sub(r"\(anonymous namespace\)::|<unnamed>::|\{lambda[^{}]*\}::?", "", name)
    plain = re.sub(r"^(?:void|static|__global__) ", "", plain)
    head = re.split(r"[<(]", plain, maxsplit=1)[0]
    last = head.rsplit("::", 1)[-1].strip()
    if last in _VAGUE and len(head) < len(plain):
        return _first_template(re.findall(r"(\w+)(?=[<(,>])", plain[len(head) :])) or last
    return last or None


def _first_template(candidates: Iterable[str]) -> str | None:
    return next((candidate for candidate in candidates if len(candidate) > 7), None)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
