"""Devices, as CUDA would number them; NVML itself is stood in for, because this machine need not have one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from profiles.devices import DeviceError, _visible, cpu_device, find_device, find_devices


class NoSuchDeviceError(Exception):
    pass


class FourGpus:
    """The part of pynvml that is asked, with handles that are numbers."""

    NVMLError = NoSuchDeviceError
    uuids = ("GPU-aa01", "GPU-aa02", "GPU-bb01", "GPU-bb02")

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802 - NVML's name
        return 4

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802 - NVML's name
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:  # noqa: N802 - NVML's name
        return self.uuids[handle]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:  # noqa: N802 - NVML's name
        if uuid != "MIG-1":
            raise NoSuchDeviceError(uuid)
        return 7


@pytest.mark.parametrize(
    ("chosen", "visible"),
    [
        (None, [0, 1, 2, 3]),
        ("", []),
        ("2", [2]),
        ("3, 0", [3, 0]),
        ("0,-1,1", [0]),
        ("0,9,1", [0]),
        ("GPU-bb01,0", [2, 0]),
        ("GPU-aa", []),
        ("MIG-1", [7]),
        ("MIG-2,0", []),
        ("nonsense", []),
    ],
)
def test_devices_are_those_that_cuda_would_see_in_its_order(chosen: str | None, visible: list[int]) -> None:
    assert _visible(FourGpus(), chosen) == visible


def test_the_cpu_is_always_there_and_the_last_choice() -> None:
    assert find_devices()[-1] == cpu_device()
    assert find_device("cpu").device == "cpu"


def test_a_device_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(DeviceError, match=r"no device 'cuda:77' on this machine; expected one of .*'cpu'"):
        find_device("cuda:77")


def test_looking_for_devices_loads_no_torch() -> None:
    look = "import sys; from profiles.devices import find_devices; find_devices(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0


def test_the_measuring_child_numbers_gpus_as_nvml_does() -> None:
    program = "import os, profiles.measure.__main__; print(os.environ['CUDA_DEVICE_ORDER'])"
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_DEVICE_ORDER"}
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert ended.stdout.strip() == "PCI_BUS_ID"
