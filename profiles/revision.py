"""Which state of Fusescope's own source measures: its commit, where that can be known for sure."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
BUILT_FROM = "FUSESCOPE_COMMIT"  # images carry it: they have no repository
CHANGED = "+"
PATIENCE_S = 5.0


class _Origin(msgspec.Struct):
    """Of `direct_url.json`, which installers write beside a package that came from a repository."""

    vcs_info: dict[str, str] = {}


@cache
def revision() -> str | None:
    """The commit's full hash, with a `+` where tracked files differ from it; None where nothing tells."""
    return os.environ.get(BUILT_FROM) or checked_out(ROOT) or _installed_from()


def checked_out(root: Path) -> str | None:
    """Of a working tree whose top is `root`: a repository further up is somebody else's."""
    if not (root / ".git").exists():
        return None
    command = ("git", "describe", "--always", "--abbrev=40", "--exclude=*", f"--dirty={CHANGED}")
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        told = subprocess.run(
            command,
            cwd=root,
            env={**own, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() or None


def _installed_from() -> str | None:
    try:
        told = distribution("fusescope").read_text("direct_url.json")
        return msgspec.json.decode(told, type=_Origin).vcs_info.get("commit_id") if told else None
    except (PackageNotFoundError, msgspec.MsgspecError):
        return None
