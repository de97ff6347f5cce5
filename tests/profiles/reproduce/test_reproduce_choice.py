"""Which run a name means, and what is said where it means none or several."""

from __future__ import annotations

import pytest

from profiles.reproduce.choice import chosen
from profiles.reproduce.errors import ReproduceError
from tests.profiles.operations import small
from tests.profiles.reproduce.alone import entry

ENTRIES = [
    entry("swiglu", "unfused", key="A"),
    entry("swiglu", "unfused@compile", key="B"),
    entry("residual_rms_norm", "unfused", key="C"),
    entry("attention", "naive", key="D"),
    entry("attention", "naive", key="E", workload=small.attention(seq_q=64)),
    entry("attention", "naive", key="F", workload=small.attention(seq_q=64)),
]


@pytest.mark.parametrize(
    ("name", "key"),
    [("swiglu/unfused", "A"), ("swiglu/unfused@eager", "A"), ("unfused@compile", "B"), ("C", "C"), ("F", "F")],
)
def test_a_name_or_a_key_means_one_run(name: str, key: str) -> None:
    assert chosen(ENTRIES, name).key == key


def test_a_number_chooses_among_the_variants_workloads() -> None:
    assert chosen(ENTRIES, "unfused", workload=2).key == "C"
    assert chosen(ENTRIES, "attention/naive", workload=1).key == "D"


@pytest.mark.parametrize(
    ("name", "workload", "said"),
    [
        ("attention/unfused", None, r"there is no variant 'attention/unfused'; there are A swiglu/unfused, B swiglu/"),
        ("unfused@fast", None, "there is no variant 'unfused@fast'"),
        ("unfused", None, r"several workloads: 1 \(swiglu, 24×32, hidden 80, fp32\) and 2 \(residual_rms_norm, 24×64"),
        ("unfused", 3, "there is no workload 3 of 'unfused'; accepted are 1 to 2"),
        ("unfused", 0, "accepted are 1 to 2"),
        ("naive", 2, r"measured several times; choose one by its key: E attention/naive and F attention/naive"),
    ],
)
def test_what_means_none_or_several_is_refused_with_what_there_is(name: str, workload: int | None, said: str) -> None:
    with pytest.raises(ReproduceError, match=said):
        chosen(ENTRIES, name, workload=workload)
