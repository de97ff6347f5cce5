"""The script's own `main`: checks the output, then times it as the run's execution and plan had it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from profiles.plan import CachePolicy
from profiles.reproduce.literals import literal
from profiles.variant import Execution

MODES = {
    Execution.COMPILE: "",
    Execution.COMPILE_REDUCE_OVERHEAD: ', mode="reduce-overhead"',
    Execution.COMPILE_MAX_AUTOTUNE: ', mode="max-autotune"',
}
MOST_CAPTURES = 8  # each copy of the inputs has a graph with a memory pool of its own
PREPARED = {
    CachePolicy.WARM: "",
    CachePolicy.COLD: ", cache_flush(device)",
    CachePolicy.IN_CONTEXT: ", flush_and_rewrite(device, first)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What `main` is made of; `device` is where it was measured (`cpu`, `cuda`), `allowed` the error that passes.

    `by_row`: some rows were wrong, where the whole may hide it; `window`: what events hold beside a call is known."""

    function: str
    execution: Execution
    cache: CachePolicy
    samples: int
    allowed: str
    by_row: bool
    window: bool
    device: str
    within_context: bool


def main_text(told: Told) -> str:
    lines = [
        "@torch.no_grad()",
        "def main() -> int:",
        '    """0 where the output is right, 1 where it is not."""',
        '    parser = argparse.ArgumentParser(description="Check the output, then time it.")',
        f'    parser.add_argument("--device", default={literal(told.device)}, help="cpu, cuda or cuda:N")',
        f'    parser.add_argument("--samples", type=int, default={told.samples}, help="of each time")',
        "    options = parser.parse_args()",
        "    device = torch.device(options.device)",
        '    if device.type == "cuda":',
        "        torch.cuda.set_device(device.index or 0)",
        "    first = make_inputs(device)",
        f"    expected, allowed = reference(first), {told.allowed}",
        f"    inputs = {_copies(told)}",
        *_calls(told),
        *_in_context(told, _body(told)),
        "    return 0",
    ]
    return "\n".join(lines)


def _copies(told: Told) -> str:
    """By the cache policy; where graphs are compiled, weights stay in place as in a model."""
    if told.cache is CachePolicy.WARM:
        return "[first]"
    in_context = told.cache is CachePolicy.IN_CONTEXT
    in_place = told.execution.compiles and told.execution.asks_for_graphs
    rotated = "weights(first)" if in_context else "tensors(first)"
    shared = [*(["*activations(first)"] if in_context else []), *(["*weights(first)"] if in_place else [])]
    options = f", shared=[{', '.join(shared)}]" if shared else ""
    most = f", most={MOST_CAPTURES}" if told.execution is Execution.CUDAGRAPH else ""
    return f"copies(first, {rotated}, device{options}{most})"


def _calls(told: Told) -> Iterator[str]:
    """One call per copy of the inputs."""
    function = told.function
    if told.execution in MODES:
        function = "forward"
        yield f"    forward = torch.compile({told.function}, dynamic=False{MODES[told.execution]})"
    if told.execution.compiles and told.execution.asks_for_graphs:
        yield '    if device.type == "cuda":'
        yield "        _keep_weights_in_place(first)"
    if told.execution is Execution.CUDAGRAPH:
        function = f"CapturedCall({told.function})"
    yield f"    calls = [partial({function}, one) for one in inputs]"


def _in_context(told: Told, body: list[str]) -> Iterator[str]:
    if not told.within_context:
        yield from body
        return
    yield "    with ExitStack() as contexts:"
    yield "        for one in inputs:"
    yield "            contexts.enter_context(CONTEXT(one))"
    yield from (f"    {line}" for line in body)


def _body(told: Told) -> list[str]:
    window = ", window_ns=WINDOW_NS" if told.window else ""
    return [
        *_check(by_row=told.by_row),
        '    here = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"',
        """    print(f"{'':<10}{f'here, {here}':<40}Fusescope, {MEASURED_ON}")""",
        '    if device.type == "cuda":',
        f"        times = gpu_times(calls[0], device, options.samples{PREPARED[told.cache]}{window})",
        '        show("gpu_time", times, MEASURED.get("gpu_time"))',
        '    show("call_time", call_times(calls, device, options.samples), MEASURED.get("call_time"))',
    ]


def _check(*, by_row: bool) -> Iterator[str]:
    yield "    output = calls[0]()"
    yield "    error = relative_error(output, expected)"
    if by_row:
        yield "    row_error = worst_row_error(output, expected)"
        yield '    print(f"worst row: relative error {row_error:.2e}, up to {ROW_ALLOWED:.2e} passes")'
    yield f"    correct = error <= allowed{' and row_error <= ROW_ALLOWED' if by_row else ''}  # False for NaN"
    yield '    verdict = "correct" if correct else "INCORRECT"'
    yield '    print(f"{verdict}: relative L2 error {error:.2e}, up to {allowed:.2e} passes")'
    yield "    if not correct:"
    yield "        return 1"
    yield "    del output, expected"
