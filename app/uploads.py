"""A trace file on its way in: from the request to the disk, then to the database and the workers. What breaks off
leaves nothing."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import PurePath

from starlette.concurrency import run_in_threadpool

from app import context
from db.imports import Registered, take_upload
from db.store import TraceStore
from db.uploads import Upload, check_size
from profiles.trace.limits import trace_limits
from profiles.trace.source import check_start
from workers import dispatch

START_BYTES = 64 << 10
BLOCK_BYTES = 1 << 20


class DiskFull(OSError):  # noqa: N818 - says what is wrong
    """There is no room for the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How an upload is called and where it goes: into the comparison given, into a new one of its own (`alone`), or
    into none."""

    file_name: str
    label: str | None
    comparison_id: int | None
    alone: bool
    submitted_by: str | None = None


def check_length(size_bytes: int | None) -> None:
    """By what a request says about itself, before anything of it is read. UploadTooLarge where it is too much."""
    if size_bytes is not None:
        check_size(size_bytes, most_bytes=trace_limits().max_file_bytes)


async def receive(blocks: AsyncIterator[bytes], wanted: Wanted) -> Registered:
    """Store the file and send its id to the workers. TraceError where its first bytes are of no trace, UploadTooLarge,
    DiskFull, or what `register_import` raises: then nothing is stored."""
    state = context.settings().state
    try:
        with Upload(state, most_bytes=trace_limits().max_file_bytes) as upload:
            await _write(upload, blocks, PurePath(wanted.file_name).suffix)
            return await run_in_threadpool(_take, upload, wanted)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(error.errno, "the server's disk is full; nothing of the file was kept") from error
        raise


async def _write(upload: Upload, blocks: AsyncIterator[bytes], suffix: str) -> None:
    """In few large writes, each off the loop that serves everyone."""
    pending, checked = bytearray(), False
    async for block in blocks:
        pending += block
        if not checked and len(pending) >= START_BYTES:
            check_start(bytes(pending[:START_BYTES]), suffix)
            checked = True
        if len(pending) >= BLOCK_BYTES:
            await run_in_threadpool(upload.add, bytes(pending))
            pending.clear()
    if not checked:
        check_start(bytes(pending), suffix)
    await run_in_threadpool(upload.add, bytes(pending))


def _take(upload: Upload, wanted: Wanted) -> Registered:
    settings = context.settings()
    registered = take_upload(
        context.database(),
        TraceStore(settings.traces_url),
        upload,
        file_name=wanted.file_name,
        name=wanted.label,
        comparison_id=wanted.comparison_id,
        alone=wanted.alone,
        submitted_by=wanted.submitted_by,
    )
    if not registered.known:
        dispatch.publish_import(settings, registered.import_id)
    return registered
