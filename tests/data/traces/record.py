"""Makes the recordings beside it: `python tests/data/traces/record.py cpu|cuda DIRECTORY` (needs torch).

Each holds three forward passes, marked as the measuring child marks them.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, record_function

PASSES = 3
DEVICE = sys.argv[1]
DTYPE = torch.float32 if DEVICE == "cpu" else torch.bfloat16
INDUCTOR = {"cpp.enable_kernel_profile": True} if DEVICE == "cpu" else {}

torch.manual_seed(0)
q, k, v = (torch.randn(1, 2, 256, 64, device=DEVICE, dtype=DTYPE) for _ in range(3))
mask = torch.ones(256, 256, dtype=torch.bool, device=DEVICE).triu(1)
x = torch.randn(64, 128, device=DEVICE, dtype=DTYPE)
gate, up = (torch.randn(256, 128, device=DEVICE, dtype=DTYPE) for _ in range(2))
down = torch.randn(128, 256, device=DEVICE, dtype=DTYPE)


def naive() -> torch.Tensor:
    with record_function("fusescope.stage:scores"):
        scores = q @ k.transpose(-1, -2)
    with record_function("fusescope.stage:scale"):
        scores = scores * 64**-0.5
    with record_function("fusescope.stage:mask"):
        scores = scores.masked_fill(mask, float("-inf"))
    with record_function("fusescope.stage:softmax"):
        weights = scores.softmax(-1)
    with record_function("fusescope.stage:values"):
        return weights @ v


def naive_inplace() -> torch.Tensor:
    scores = q @ k.transpose(-1, -2)
    scores *= 64**-0.5
    scores.masked_fill_(mask, float("-inf"))
    return scores.softmax(-1) @ v


def sdpa(backend: SDPBackend) -> Callable[[], torch.Tensor]:
    def call() -> torch.Tensor:
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    return call


def swiglu() -> torch.Tensor:
    hidden = functional.silu(functional.linear(x, gate)) * functional.linear(x, up)
    return functional.linear(hidden, down)


def record(name: str, call: Callable[[], torch.Tensor], directory: Path) -> None:
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if DEVICE == "cuda" else [])
    with torch.no_grad():
        for _ in range(3):
            call()
        with profile(activities=activities) as recording:
            for number in range(PASSES):
                with record_function(f"fusescope.forward#{number}"):
                    call()
            if DEVICE == "cuda":
                torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "trace.json"
        recording.export_chrome_trace(str(plain))
        packed = gzip.compress(plain.read_bytes(), mtime=0)
    (directory / f"{DEVICE}_{name}.json.gz").write_bytes(packed)


def graph_of(call: Callable[[], torch.Tensor]) -> Callable[[], None]:
    graph = torch.cuda.CUDAGraph()
    call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def main() -> None:
    directory = Path(sys.argv[2])
    record("naive", naive, directory)
    record("naive_inplace", naive_inplace, directory)
    record("sdpa_flash", sdpa(SDPBackend.FLASH_ATTENTION), directory)
    record("swiglu_compiled", torch.compile(swiglu, options=INDUCTOR), directory)
    if DEVICE == "cuda":
        record("sdpa_cudnn", sdpa(SDPBackend.CUDNN_ATTENTION), directory)
        record("sdpa_efficient", sdpa(SDPBackend.EFFICIENT_ATTENTION), directory)
        record("sdpa_math", sdpa(SDPBackend.MATH), directory)
        record("swiglu_graph", graph_of(swiglu), directory)
        record("swiglu_reduce_overhead", torch.compile(swiglu, mode="reduce-overhead"), directory)
    else:
        record("swiglu_compiled_hidden", torch.compile(swiglu, options={"cpp.enable_kernel_profile": False}), directory)


if __name__ == "__main__":
    main()
