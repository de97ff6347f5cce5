"""Make `.venv` and install Fusescope into it: what `make install` runs.

Standard library only, on the machine's own Python. A torch that this Python can import is linked, not installed
again; without a GPU a CPU build is taken, never gigabytes of CUDA.
"""

import argparse
import errno
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

if sys.version_info < (3, 11):  # noqa: UP036 - this file runs on the machine's Python, whatever that is
    found = sys.version.split()[0]
    print(f"fusescope: Python {found} is too old; 3.11 or later is needed: make PYTHON=python3.12 up", file=sys.stderr)
    sys.exit(2)

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "fusescope-install.json"
LINK = "fusescope-torch.pth"
TESTED_TORCH = "torch==2.13.0"
ROOM_BYTES = 1 << 30
# No dependency may bring torch in by itself: which build is right here is decided below. sigstore checks downloads from
# a hub, which no test makes: what it needs is larger than everything else.
OVERRIDES = "torch ; sys_platform == 'never'\nsigstore ; sys_platform == 'never'\n"

LOCATE_TORCH = """
import importlib.util, json, pathlib, sys, torch
if importlib.util.find_spec("numpy"):
    torch.ones(1).numpy()
home = str(pathlib.Path(torch.__file__).resolve().parent.parent)
others = [p for p in sys.path if p.endswith(("site-packages", "dist-packages")) and p != home]
print(json.dumps([torch.__version__, torch.version.cuda, [home, *others]]))
"""


class Torch(NamedTuple):
    """A torch that works: its version, the CUDA that it was built for, the directories that it is imported from."""

    version: str
    cuda: str | None
    paths: list[str]


class InstallError(Exception):
    """What stops the installation, in one line, with what to do about it."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="also what `make test` and `make check` need")
    try:
        install(dev=parser.parse_args().dev)
    except InstallError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(_said(error))
    except KeyboardInterrupt:
        return _refuse("interrupted; run it again and it goes on from here")
    return 0


def install(*, dev: bool) -> None:
    """Bring `.venv` up to date; returns at once where nothing changed since the last time."""
    wanted = {"digest": _digest(), "dev": dev}
    if _is_current(wanted):
        return
    started = time.monotonic()
    if not _is_usable():
        _step("virtual environment", _make_venv)
    if not (VENV / "bin" / "uv").exists():
        _step("uv", lambda: _checked([PYTHON, "-m", "pip", "install", "--quiet", "--upgrade", "pip", "uv"]))
    _step("packages", lambda: _install_packages(dev=dev))
    _step("torch", _install_torch)
    STAMP.write_text(json.dumps(wanted))
    _say(f"ready in {time.monotonic() - started:.1f} s")


def _digest() -> str:
    """What the environment is made from: the declared packages, this file, the interpreter."""
    made_from = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    made_from.update(Path(__file__).read_bytes())
    made_from.update(f"{sys.version} {sys.base_prefix} {ROOT}".encode())
    return made_from.hexdigest()


def _is_current(wanted: dict[str, object]) -> bool:
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return False
    complete = stamp.get("digest") == wanted["digest"] and (stamp.get("dev") or not wanted["dev"])
    return bool(complete and PYTHON.exists() and all(Path(path).is_dir() for path in _linked_paths()))


def _linked_paths() -> list[str]:
    return [line for link in VENV.glob(f"lib/python*/site-packages/{LINK}") for line in link.read_text().splitlines()]


def _is_usable() -> bool:
    """Whether `.venv` runs, with pip and the Python version that runs this file."""
    if not PYTHON.exists():
        return False
    version = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([PYTHON, "-c", version], capture_output=True, text=True, check=False)
    return answer.stdout.strip() == "{}.{}".format(*sys.version_info)


def _make_venv() -> None:
    _check_machine()
    if VENV.exists():
        shutil.rmtree(VENV)
    _checked([sys.executable, "-m", "venv", VENV])


def _check_machine() -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise InstallError(
                f"this Python has no {module} module; on Debian: apt install python3-venv; then try again"
            )
    if not os.access(ROOT, os.W_OK):
        raise InstallError(f"{ROOT} is not writable")
    if VENV.exists() and not (VENV / "pyvenv.cfg").exists():
        raise InstallError(f"{VENV} is there but is no virtual environment; move it away")
    free = shutil.disk_usage(ROOT).free
    if free < ROOM_BYTES:
        raise InstallError(f"{free >> 20} MiB are free under {ROOT}; {ROOM_BYTES >> 20} MiB are needed")


def _install_packages(*, dev: bool) -> None:
    overrides = VENV / "fusescope-overrides.txt"
    overrides.write_text(OVERRIDES)
    what = ["--editable", f"{ROOT}[measure,dev]" if dev else f"{ROOT}[measure]"]
    if _runs([*_uv_install(), "--overrides", overrides, *what]):
        return
    _say("uv could not install the packages; trying pip, which knows this machine's own settings")
    _checked(
        [PYTHON, "-m", "pip", "install", *what], failing="the packages could not be installed; see the lines above"
    )


def _install_torch() -> None:
    torch = _torch_of(PYTHON) or _linked_torch() or _installed_torch()
    kind = f"CUDA {torch.cuda}" if torch.cuda else "no CUDA"
    _say(f"torch {torch.version}, {kind}, from {torch.paths[0]}")
    if _has_gpu() and not torch.cuda:
        _say("this machine has a GPU that this torch cannot use: jobs run on the CPU until another torch is installed")


def _torch_of(python: str | Path) -> Torch | None:
    """The torch that `python` can import and use."""
    command = [str(python), "-W", "ignore", "-c", LOCATE_TORCH]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return Torch(*json.loads(answer.stdout.splitlines()[-1])) if answer.returncode == 0 else None


def _linked_torch() -> Torch | None:
    """Link the torch of the Python that runs this file, behind the environment's own packages."""
    outer = _torch_of(sys.executable)
    if outer is None:
        return None
    link = next(VENV.glob("lib/python*/site-packages")) / LINK
    link.write_text("".join(f"{path}\n" for path in outer.paths))
    torch = _torch_of(PYTHON)
    if torch is None:
        link.unlink()
        _say(f"torch {outer.version} of {sys.executable} does not work beside the packages here; installing another")
    return torch


def _installed_torch() -> Torch:
    _checked(
        _torch_installation(), failing="no torch that suits this machine could be had; install one for this Python"
    )
    torch = _torch_of(PYTHON)
    if torch is None:
        raise InstallError(f"torch was installed but cannot be imported; see {PYTHON} -c 'import torch'")
    return torch


def _torch_installation() -> list[str | Path]:
    if _has_gpu():
        return [*_uv_install(), "torch"]
    requirement = _plain_cpu_torch()
    if requirement is not None:
        return [PYTHON, "-m", "pip", "install", requirement]
    return [*_uv_install(), "torch", "--torch-backend", "cpu"]


def _plain_cpu_torch() -> str | None:
    """The requirement that plain pip fulfils with a CPU build, found without downloading one; None where it would
    bring CUDA."""
    for requirement in (TESTED_TORCH, "torch"):
        report = VENV / "fusescope-torch.json"
        dry_run = [PYTHON, "-m", "pip", "install", "--quiet", "--dry-run", "--report", report, requirement]
        if subprocess.run(list(map(str, dry_run)), capture_output=True, check=False).returncode:
            continue
        names = [entry["metadata"]["name"].lower() for entry in json.loads(report.read_text())["install"]]
        return None if any(name.startswith(("nvidia-", "cuda-")) for name in names) else requirement
    return None


def _has_gpu() -> bool:
    return Path("/proc/driver/nvidia").exists() or shutil.which("nvidia-smi") is not None


def _uv_install() -> list[str | Path]:
    return [VENV / "bin" / "uv", "pip", "install", "--python", PYTHON]


def _step(name: str, work: Callable[[], object]) -> None:
    _say(f"{name} …")
    started = time.monotonic()
    work()
    _say(f"{name}: {time.monotonic() - started:.1f} s")


def _checked(command: list[str | Path], *, failing: str | None = None) -> None:
    if not _runs(command):
        raise InstallError(failing or f"failed: {' '.join(map(str, command))}; see the lines above")


def _runs(command: list[str | Path]) -> bool:
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def _said(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full: {error.filename or ROOT}"
    return f"{error.strerror}: {error.filename or ROOT}"


def _say(line: str) -> None:
    print(f"fusescope: {line}", flush=True)


def _refuse(line: str) -> int:
    print(f"fusescope: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
