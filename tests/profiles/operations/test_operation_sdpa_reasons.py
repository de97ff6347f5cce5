"""Torch's reasons in the forms that it gives them: on descriptor 2 and through Python's warnings."""

from __future__ import annotations

import pytest

from profiles.operations.torch_reasons import first_reason

ON_STDERR = (
    "[W1129 10:12:13.141592653 sdp_utils_cpp.h:301] Warning: Expected query, key and value to all be of dtype: "
    "{Half, BFloat16}. Got Query dtype: float, Key dtype: float, and Value dtype: float instead. (function operator())"
)
AT = "(Triggered internally at /pytorch/aten/src/ATen/native/transformers/cuda/sdp_utils.cpp:913.)"
PYTHON_WARNINGS = [
    f"Memory efficient kernel not used because: {AT}",
    f"Memory Efficient attention has been runtime disabled. {AT}",
    f"Flash attention kernel not used because: {AT}",
    "Flash attention requires q,k,v to have the same last dimension and to be less than or equal to 256. "
    f"Got Query.size(-1): 512, Key.size(-1): 512, Value.size(-1): 512 instead. {AT}",
]


def test_the_loggers_frame_is_cut_off() -> None:
    reason = first_reason([ON_STDERR])
    assert reason is not None
    assert reason.startswith("Expected query, key and value to all be of dtype: {Half, BFloat16}.")
    assert reason.endswith("Value dtype: float instead.")


def test_headings_and_the_others_being_disabled_are_no_reasons() -> None:
    reason = first_reason(PYTHON_WARNINGS)
    assert reason is not None
    assert reason.startswith("Flash attention requires q,k,v to have the same last dimension")
    assert reason.endswith("Value.size(-1): 512 instead.")


@pytest.mark.parametrize("heard", [[], [""], PYTHON_WARNINGS[:3]], ids=["nothing", "an empty line", "headings alone"])
def test_no_reason_is_none(heard: list[str]) -> None:
    assert first_reason(heard) is None
