"""What devices can do at most, kept between runs of `fusescope run`: one small file per environment.

It is a cache: what cannot be read or written is measured anew, and is no error.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from profiles.ceilings import Ceilings
from profiles.environment import Environment

PREFIX, SUFFIX = "ceilings-", ".json"


def known() -> tuple[str, ...]:
    """The digests of the environments whose ceilings can be read."""
    with suppress(OSError):
        digests = [path.name[len(PREFIX) : -len(SUFFIX)] for path in _folder().glob(f"{PREFIX}*{SUFFIX}")]
        return tuple(digest for digest in digests if _read(digest) is not None)
    return ()


def load(environment: Environment) -> Ceilings | None:
    return _read(environment.digest)


def store(environment: Environment, ceilings: Ceilings) -> None:
    """In one step: a reader sees the whole file or none."""
    with suppress(OSError):
        _folder().mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=_folder(), prefix=PREFIX, delete=False) as file:
            file.write(msgspec.json.encode(ceilings))
        Path(file.name).replace(_file(environment.digest))


def _read(digest: str) -> Ceilings | None:
    try:
        return msgspec.json.decode(_file(digest).read_bytes(), type=Ceilings)
    except (OSError, ValueError):  # msgspec's errors are ValueErrors
        return None


def _file(digest: str) -> Path:
    return _folder() / f"{PREFIX}{digest}{SUFFIX}"


def _folder() -> Path:
    """By the XDG base directory specification; a relative XDG_CACHE_HOME is to be ignored."""
    told = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(told) if Path(told).is_absolute() else Path.home() / ".cache"
    return base / "fusescope"
