"""What a file may call a device's ceilings."""

from __future__ import annotations

import pytest

from profiles.ceilings import Bandwidth, Ceilings, CeilingsError, MatmulRate, check_ceilings
from profiles.workload import DType


def bandwidth(*, size_bytes: int = 1 << 20, read_share: float = 0.5, gb_per_s: float = 100.0) -> Ceilings:
    return Ceilings(bandwidths=(Bandwidth(size_bytes=size_bytes, read_share=read_share, gb_per_s=gb_per_s),))


def test_what_a_device_measures_is_accepted() -> None:
    check_ceilings(Ceilings())
    check_ceilings(bandwidth())


@pytest.mark.parametrize(
    "ceilings",
    [
        bandwidth(size_bytes=0),
        bandwidth(gb_per_s=-1.0),
        bandwidth(read_share=1.5),
        Ceilings(matmuls=(MatmulRate(dtype=DType.BF16, size=8, tflop_per_s=0.0),)),
        Ceilings(launch_ns=-3.0),
    ],
)
def test_what_no_device_has_is_refused_with_what_is_accepted(ceilings: Ceilings) -> None:
    with pytest.raises(CeilingsError, match=r"accepted are|above 0"):
        check_ceilings(ceilings)
