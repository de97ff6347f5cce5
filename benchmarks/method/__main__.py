"""`python -m benchmarks.method NAME`: one check of the method, printed as JSON with the device and its versions."""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.method import aa, counted, distance, injected, norms, overhead
from profiles.plan import CachePolicy, Plan

CHECKS: dict[str, Callable[..., dict[str, Any]]] = {
    "aa": aa.run,
    "injected": injected.run,
    "distance": distance.run,
    "counted": counted.run,
    "norms": norms.run,
    "overhead": overhead.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=CHECKS)
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--budget-s", type=float, default=2.0, help="of timing per comparison")
    parser.add_argument("--warm", action="store_true", help="warm caches, not cold ones")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    device = torch.device(options.device)
    if device.type == "cuda" and options.name not in (
        "counted",
        "norms",
    ):  # their children take the device for themselves
        torch.cuda.set_device(device)
    plan = Plan(cache=CachePolicy.WARM if options.warm else CachePolicy.COLD, budget_s=options.budget_s)
    found = CHECKS[options.name](device, seconds=options.seconds, plan=plan)
    text = json.dumps({"check": options.name, "device": _named(device), **found}, indent=1)
    print(text)
    if options.output is not None:
        options.output.write_text(text)


def _named(device: torch.device) -> dict[str, Any]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {"name": name, "torch": torch.__version__, "cuda": torch.version.cuda}


if __name__ == "__main__":
    main()
