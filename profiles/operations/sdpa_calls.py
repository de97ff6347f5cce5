"""Which questions a model's code asks scaled_dot_product_attention: heard while it runs once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from profiles.operations.sdpa_backends import Question


def questions_of(call: Callable[[], object]) -> tuple[Question, ...]:
    """Each different question once, in order; `call` runs eagerly. One that fails has asked all the same."""
    ear = _Ear()
    with ear, suppress(RuntimeError, ValueError):
        call()
    return tuple(ear.questions.values())


class _Ear(TorchFunctionMode):
    """Keeps the tensors of different questions alone: layers ask alike."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: dict[object, Question] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is scaled_dot_product_attention:
            question = _question(*args, **(kwargs or {}))
            self.questions.setdefault(_kind(question), question)
        return func(*args, **(kwargs or {}))


def _question(  # noqa: PLR0917 - by the signature of torch's function
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,  # noqa: ARG001 - no backend's choice asks for it
    enable_gqa: bool = False,
) -> Question:
    """By the signature of torch's function."""
    return Question(query, key, value, causal=is_causal, grouped=enable_gqa, mask=attn_mask, dropout=dropout_p)


def _kind(question: Question) -> object:
    tensors = (question.query, question.key, question.value, question.mask)
    layouts = tuple(None if t is None else (t.shape, t.stride(), t.dtype, t.device) for t in tensors)
    return layouts, question.causal, question.grouped, question.dropout
