"""How many exponentials a device computes in a second, in fp32 and with nothing else to wait for."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from profiles.measure.ceiling_clocks import Clock

PER_ELEMENT = 256
ELEMENTS_ON_GPU = 1 << 22
ELEMENTS_PER_CORE = 1 << 15  # in and out fit a core's own cache

# Softmax kernels compute 2^x in one instruction of the special function unit. Any kernel of torch that computes one
# exponential per element waits for memory instead, so each element goes through many, one after another (2^-y
# converges).
_CODE = f"""
template <typename T> T many_exponentials(T x) {{
  float y = x;
  #pragma unroll 16
  for (int i = 0; i < {PER_ELEMENT}; ++i) {{
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(-y));
  }}
  return y;
}}
"""


def exponential_rate(device: torch.device, clock: Clock) -> float | None:
    """None where this torch cannot compile the kernel (its `jiterator` is private)."""
    if device.type != "cuda":
        values = torch.rand(ELEMENTS_PER_CORE * torch.get_num_threads())
        ns = clock.call_ns(partial(torch.exp, values, out=torch.empty_like(values)))
        return float(f"{values.numel() / ns * 1e9:.4g}")
    jiterator: Any = getattr(torch.cuda, "jiterator", None)
    compile_ = getattr(jiterator, "_create_jit_fn", None)
    if compile_ is None:
        return None
    many = compile_(_CODE)
    values = torch.rand(ELEMENTS_ON_GPU, device=device)
    ns = clock.call_ns(partial(many, values))
    return float(f"{values.numel() * PER_ELEMENT / ns * 1e9:.4g}")
