"""What identifies a measuring machine. Clocks, temperature, commit and time belong to a run, not here."""

from __future__ import annotations

import hashlib

import msgspec


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """`device` is `cpu` or `cuda`; `device_name` is the GPU or processor model; versions as their makers write them."""

    device: str
    device_name: str
    memory_bytes: int | None = None
    cores: int | None = None
    driver: str | None = None
    cuda: str | None = None
    cudnn: str | None = None
    torch: str
    triton: str | None = None
    transformers: str | None = None
    python: str
    platform: str

    @property
    def digest(self) -> str:
        """SHA-256 over all fields in order: equal digests are one environment."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()
