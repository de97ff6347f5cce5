"""`python -m profiles.measure SPEC.json`: measure one trial; events go to the descriptor that the spec names.

Exit 0 when every variant has its run, whatever became of it; 2 with one line on standard error when nothing can be
measured.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from profiles import catalog
from profiles.protocol import MeasureSpec
from profiles.revision import revision

# Devices are found through NVML, which numbers them by bus; CUDA would put the fastest first.
os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
# A process that imports what asks for a device must not start the driver by it: no fork could use a device any more.
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
# One thread compiles in this process: a pool of helpers would outlive the variant that needed it.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        return _complain("usage: python -m profiles.measure SPEC.json")
    try:
        spec = msgspec.json.decode(Path(arguments[0]).read_bytes(), type=MeasureSpec)
        catalog.check_workload(spec.workload)
        for variant in spec.variants:
            catalog.check_variant(catalog.operation(spec.workload.operation), variant)
    except (OSError, ValueError) as error:
        return _complain(f"{arguments[0]}: {error}")
    try:
        from profiles.measure.messages import Outbox  # noqa: PLC0415 - what follows imports torch
        from profiles.measure.trial import Trial, TrialError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        return _complain(f"package {error.name} is not installed")
    revision()  # asked once: forked processes remember it
    try:
        Trial(spec, Outbox(spec.events_fd)).run()
    except (TrialError, BrokenPipeError) as error:
        return _complain(str(error))
    return 0


def _complain(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
