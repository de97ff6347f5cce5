"""What variants are held against: where it is none, what rows may err, and what the memory around a call holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from profiles.measure import poison, row_errors
from profiles.measure.correctness import check
from profiles.measure.failures import YardstickError, ended
from profiles.measure.given import Given
from profiles.measure.poison import free_sizes, poison_free_memory, poison_outputs, unwritten_rows
from profiles.measure.rotation import tensors
from profiles.measure.row_errors import whole
from profiles.measure.yardstick import yardstick
from profiles.results import FailureKind, RunStatus
from profiles.workload import DType, Workload
from tests.profiles.measure.checking import CPU, Bench
from tests.profiles.operations import small

WORKLOAD = Workload(operation="doubling", axes={"rows": 8}, dtype=DType.FP32)


@dataclass(frozen=True)
class Numbers:
    x: Tensor
    weight: nn.Parameter


class Doubling:
    """An operation whose reference and plain code are what a test wants."""

    def __init__(self, *, reference: Any = None, plain: Any = None) -> None:
        self._reference, self._plain = reference, plain

    def inputs(self, workload: Workload, device: torch.device) -> Numbers:
        generator = torch.Generator(device).manual_seed(workload.seed)
        weight = nn.Parameter(torch.full((4,), 2.0, device=device), requires_grad=False)
        return Numbers(torch.randn(8, 4, generator=generator, device=device), weight)

    def resized(self, n: Numbers, workload: Workload) -> Numbers:
        return Numbers(self.inputs(workload, n.x.device).x, n.weight)

    def error_allowed(self, _: Workload) -> float:
        return 1e-5

    def reference(self, n: Numbers) -> tuple[Tensor, ...]:
        return (self._reference(n) if self._reference else n.x.double() * 2,)

    def plain(self, n: Numbers) -> tuple[Tensor, ...]:
        return (self._plain(n) if self._plain else n.x * n.weight,)


def measure(module: Any, inputs: Numbers | None = None) -> Any:
    return yardstick(module, WORKLOAD, inputs or module.inputs(WORKLOAD, CPU))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda x: x.index_fill(0, torch.tensor([1, 5]), math.nan), "is NaN or infinite in 2 of 8 rows"),
        (lambda x: x.index_fill(1, torch.tensor([0]), math.inf), "is NaN or infinite in 8 of 8 rows"),
        (torch.zeros_like, "is zero in all of its 8 rows"),
    ],
)
def test_a_reference_that_tells_nothing_is_no_variants_fault(spoil: Any, said: str) -> None:
    with pytest.raises(YardstickError, match=said) as caught:
        measure(Doubling(reference=lambda n: spoil(n.x.double())))
    run = ended("naive", caught.value)
    assert run.failure is not None
    assert (run.status, run.failure.kind) == (RunStatus.FAILED, FailureKind.INTERNAL)
    assert run.failure.message == f"the float64 reference {said}"


def test_a_reference_without_memory_is_no_variants_fault() -> None:
    def starves(_: Numbers) -> Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 80 GiB")

    with pytest.raises(YardstickError, match="cannot be computed: CUDA out of memory"):
        measure(Doubling(reference=starves))


def test_plain_code_that_does_not_run_leaves_the_tolerance_of_the_dtype() -> None:
    def lacks(_: Numbers) -> Tensor:
        raise RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'")

    module = Doubling(plain=lacks)
    found = measure(module)
    assert (found.plain_error, found.others, found.tolerance) == (None, None, 1e-5)
    inputs = module.inputs(WORKLOAD, CPU)
    assert check(lambda: inputs.x * 2, found).passed
    assert not check(lambda: inputs.x * 2.001, found).passed


def test_plain_code_that_is_wrong_is_no_excuse_for_others() -> None:
    found = measure(Doubling(plain=lambda n: n.x * 3))
    assert found.plain_error == pytest.approx(0.5)
    assert found.others is None
    assert found.tolerance == 1e-5
    assert float((found.expected[0].allowed / found.expected[0].sizes).max()) <= 1e-5


def test_plain_code_with_a_bad_row_is_itself_found_out() -> None:
    """The baseline may be what is wrong."""
    bench = Bench(small.residual_rms_norm(DType.FP32))

    def slips(n: Any) -> tuple[Tensor, Tensor]:
        total, normed = Bench(small.residual_rms_norm(DType.FP32)).module.plain(n)
        normed[3] *= 1.5
        return total, normed

    module: Any = bench.module
    spoilt = _With(module, plain=slips)
    found = yardstick(spoilt, small.residual_rms_norm(DType.FP32), bench.inputs)
    assert not check(lambda: slips(bench.inputs), found).passed
    assert check(lambda: module.functional(bench.inputs), found).passed


class _With:
    """A module with another `plain`."""

    def __init__(self, module: Any, *, plain: Any) -> None:
        self._module, self.plain = module, plain

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def test_a_row_of_almost_nothing_may_err_as_much_as_others_do() -> None:
    def cancels(n: Numbers) -> Tensor:
        wanted = n.x.double() * 2
        wanted[2] *= 1e-9
        return wanted

    module = Doubling(reference=cancels, plain=lambda n: cancels(n).float() * (1 + 2e-7))
    inputs = module.inputs(WORKLOAD, CPU)
    found = measure(module, inputs)

    def dust(by: float) -> Tensor:
        output = cancels(inputs).float()
        output[2] += by
        return output

    assert check(lambda: dust(1e-7), found).passed
    assert not check(lambda: dust(1e-3), found).passed


def test_errors_in_pieces_equal_errors_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    output, expected = torch.randn(37, 5), torch.randn(37, 5, dtype=torch.float64)
    at_once = row_errors.row_errors(output, expected)
    monkeypatch.setattr(row_errors, "ELEMENTS_AT_ONCE", 17)
    in_pieces = row_errors.row_errors(output, expected)
    assert torch.equal(at_once.l2, in_pieces.l2)
    assert at_once.greatest == in_pieces.greatest == float((output.double() - expected).abs().max())
    assert whole(at_once.l2) == pytest.approx(float((output.double() - expected).norm()))


def test_an_exchange_is_in_place_and_spares_the_weights() -> None:
    module = Doubling()
    inputs = module.inputs(WORKLOAD, CPU)
    others = module.resized(inputs, Workload(operation="doubling", axes={"rows": 8}, dtype=DType.FP32, seed=1))
    given, own, address = Given(inputs, others, redraw=lambda: None), inputs.x.clone(), inputs.x.data_ptr()
    given.exchange()
    assert torch.equal(inputs.x, others.x)
    assert not given.changed
    inputs.x[0, 0] += 1
    assert given.changed
    given.put_back()
    assert torch.equal(inputs.x, own)
    assert inputs.x.data_ptr() == address
    inputs.weight[1] = 3.0
    assert given.weights_changed


def test_a_models_parameters_are_among_the_tensors_of_its_inputs() -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    p = Bench(small.decoder_prefill()).inputs
    assert {id(parameter) for parameter in p.model.parameters()} < {id(tensor) for tensor in tensors(p)}


def test_outputs_are_poisoned_with_all_that_lies_around_them_and_inputs_are_spared() -> None:
    around, given = torch.ones(8, 8), torch.ones(4)
    poison_outputs([around[2:4, ::2], given.view(2, 2)], spare=[given])
    assert around.isnan().all()
    assert torch.equal(given, torch.ones(4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_poison_is_told_from_a_nan_that_was_computed(dtype: torch.dtype) -> None:
    output = torch.ones(6, 3, dtype=dtype)
    poison_outputs([output], spare=[])
    output[:4] = torch.zeros(4, 3, dtype=dtype) / 0
    assert output.isnan().all()
    assert unwritten_rows(output) == 2


def test_free_memory_is_full_of_nan() -> None:
    """Small enough that the allocator hands the same memory out again; the first words of free memory are its own."""
    poison_free_memory([4096], CPU)
    found = [torch.empty(1024) for _ in range(poison.BLOCKS_OF_A_SIZE)]
    assert max(float(one.isnan().float().mean()) for one in found) > 0.9


def test_free_blocks_are_asked_for_in_sizes_that_the_allocator_gives_from_them() -> None:
    """Segments as `torch.cuda.memory_snapshot` tells them: 2 MiB requests never come from a segment of small blocks."""
    mib = 1 << 20

    def segment(kind: str, *blocks: tuple[int, str], **more: Any) -> dict[str, Any]:
        found = [{"size": size, "state": state} for size, state in blocks]
        return {"device": 0, "stream": 0, "segment_type": kind, "segment_pool_id": (0, 0), "blocks": found, **more}

    segments = [
        segment("small", (512, "active_allocated"), (2 * mib - 512, "inactive")),
        segment("large", (20 * mib, "inactive")),
        segment("large", (8 * mib, "inactive"), segment_pool_id=(0, 1)),
        segment("large", (6 * mib, "inactive"), stream=17),
        segment("large", (4 * mib, "inactive"), device=1),
        segment("large", (30 * mib, "active_awaiting_free")),
    ]
    assert free_sizes(segments, device_index=0, stream=0) == [mib, mib - 512, 20 * mib]
