"""Kernels' names, each stored once, whoever else stores it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.insertion import AT_ONCE, insert_new
from db.models import KernelRow
from profiles.results import Role


def kernel_ids(session: Session, roles: Mapping[str, Role]) -> dict[str, int]:
    """Ids by name. New names are inserted in the order of their digests, so that two writers cannot lock each other."""
    names = {_digest(name): name for name in roles}
    digests = sorted(names)
    insert_new(
        session,
        KernelRow,
        [{"digest": digest, "name": names[digest], "role": roles[names[digest]]} for digest in digests],
        key="digest",
    )
    found: dict[str, int] = {}
    for first in range(0, len(digests), AT_ONCE):
        some = KernelRow.digest.in_(digests[first : first + AT_ONCE])
        rows = session.execute(select(KernelRow.digest, KernelRow.id).where(some)).all()
        found.update((names[digest], kernel_id) for digest, kernel_id in rows)
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
