"""Traces from elsewhere: upload, list, look, download, compare, rename, delete."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, BinaryIO
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from app import context, uploads
from app.addresses import MOST_ID, identity
from app.api.params import Id, Limit, Offset
from app.api.wire import RequestError, answer, body, schemas
from app.raw_files import removed_text
from db import comparisons, imports, trace_comparisons
from db.errors import RawRemoved
from db.import_claims import retry_import
from db.import_removal import Removed, delete_import
from db.raw_imports import open_import
from db.store import TraceStore
from db.uploads import UploadTooLarge
from db.views import ComparisonView, HistoryFilter, ImportedTrace, ImportStatus, Page
from profiles.trace.errors import TraceError, UnsupportedFormat
from workers import dispatch

router = APIRouter(prefix="/traces", tags=["traces"])

BLOCK_BYTES = 1 << 20
NO_COMPARISON = "none"
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

TraceId = Annotated[int, msgspec.Meta(ge=1, le=MOST_ID)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Label = Annotated[str | None, Query(max_length=200)]
Text = Annotated[str | None, Query(max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded(ImportedTrace):
    """`known`: these bytes were imported before, and that import is what is told here; `raw_returned`: its raw file was
    no longer kept, and is again. `comparison_id` is the comparison that this upload was put into."""

    known: bool
    raw_returned: bool


class Kind(StrEnum):
    IMPORT = "import"
    RUN = "run"


class TraceOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An imported trace by its id, or the trace of a run by the run's."""

    kind: Kind
    id: TraceId


class NewTraceComparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The traces in the order of their letters. Without a name it is named after them."""

    traces: Annotated[tuple[TraceOf, ...], msgspec.Meta(min_length=1, max_length=trace_comparisons.MOST_TRACES)]
    name: Name | None = None


class NewTraceName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


def _wanted(
    name: Annotated[str, Query(min_length=1, max_length=1000)] = "trace",
    label: Label = None,
    comparison: Annotated[str | None, Query(pattern=r"^(none|\d{1,10})$")] = None,
) -> uploads.Wanted:
    into = identity(comparison)
    if comparison not in (None, NO_COMPARISON) and into is None:
        raise RequestError(422, f"{comparison!r} is no comparison's id")
    return uploads.Wanted(file_name=name, label=label, comparison_id=into, alone=comparison is None)


@router.get("", responses=schemas.answers(Page[ImportedTrace]))
def list_traces(
    search: Text = None, status: ImportStatus | None = None, offset: Offset = 0, limit: Limit = 20
) -> Response:
    """Latest first. `search` matches names, files' names and kernels' names."""
    wanted = HistoryFilter(search=search, status=status)
    return answer(imports.imported_traces(context.database(), wanted, offset=offset, limit=limit))


@router.post(
    "",
    responses={**schemas.answers(Uploaded, status=202), **schemas.answers(Uploaded)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
    status_code=202,
)
async def upload_trace(request: Request, wanted: Annotated[uploads.Wanted, Depends(_wanted)]) -> Response:
    """The body is the file as it is. 202: it waits to be read. 200: these bytes are an import already.

    It gets a comparison of its own; with `comparison=ID` it is added to that one, with `comparison=none` to none. 413
    where it is too large, 415 where it is of another kind, 422 where it gives no trace, 507 where the disk is full.
    """
    _check_encoding(request)
    try:
        uploads.check_length(_length(request))
        taken = await uploads.receive(request.stream(), wanted)
    except UploadTooLarge as error:
        raise RequestError(413, f"{wanted.file_name}: {error}") from error
    except UnsupportedFormat as error:
        raise RequestError(415, f"{wanted.file_name}: {error}") from error
    except TraceError as error:
        raise RequestError(422, f"{wanted.file_name}: {error}") from error
    except uploads.DiskFull as error:
        raise RequestError(507, f"{wanted.file_name}: {error.strerror}") from error
    except ClientDisconnect as error:
        raise RequestError(400, f"{wanted.file_name}: the upload broke off; nothing of it was kept") from error
    return await run_in_threadpool(_uploaded, taken)


@router.post(
    "/comparisons",
    responses=schemas.answers(ComparisonView, status=201),
    openapi_extra=schemas.takes(NewTraceComparison),
    status_code=201,
)
def compare_traces(wanted: Annotated[NewTraceComparison, Depends(body(NewTraceComparison))]) -> Response:
    """Imported traces, and traces of runs, side by side."""
    database = context.database()
    made = trace_comparisons.compare_traces(database, [(one.kind, one.id) for one in wanted.traces], name=wanted.name)
    return answer(comparisons.comparison(database, made), status=201)


@router.get("/{import_id}", responses=schemas.answers(ImportedTrace))
def show_trace(import_id: Id) -> Response:
    return answer(imports.imported_trace(context.database(), import_id))


@router.patch("/{import_id}", responses=schemas.answers(ImportedTrace), openapi_extra=schemas.takes(NewTraceName))
def rename_trace(import_id: Id, wanted: Annotated[NewTraceName, Depends(body(NewTraceName))]) -> Response:
    database = context.database()
    imports.rename_import(database, import_id, wanted.name)
    return answer(imports.imported_trace(database, import_id))


@router.post("/{import_id}/retry", responses=schemas.answers(ImportedTrace))
def retry_trace(import_id: Id) -> Response:
    """409 where it did not fail, or its file gives no trace."""
    database = context.database()
    retry_import(database, import_id)
    dispatch.publish_import(context.settings(), import_id)
    return answer(imports.imported_trace(database, import_id))


@router.delete("/{import_id}", responses=schemas.answers(Removed))
def delete_trace(import_id: Id, comparisons: bool = False) -> Response:
    """With the comparisons that show it alone, and with its file unless a run has the same trace. 409 where another
    comparison shows it, unless `comparisons=true` asks to delete those too."""
    store = TraceStore(context.settings().traces_url)
    return answer(delete_import(context.database(), store, import_id, with_comparisons=comparisons))


@router.get("/{import_id}/raw", responses={200: {"description": "the file as it came", "content": {"*/*": {}}}})
def download_trace(import_id: Id) -> Response:
    """404 where the file was not kept, as that of a failed import; 410 where it was kept as long as this server keeps
    raw traces."""
    settings = context.settings()
    try:
        trace, file = open_import(context.database(), TraceStore(settings.traces_url), import_id)
    except RawRemoved as error:
        removed = removed_text(error.removed_at, keep_days=settings.keep_raw_days)
        again = "import the same file again to keep it anew"
        raise RequestError(410, f"the raw file of imported trace {import_id} was {removed}; {again}") from error
    headers = {"Content-Disposition": _attachment(trace.file_name), "Content-Length": str(trace.size_bytes)}
    return StreamingResponse(_blocks(file), media_type=_media_type(trace.file_name), headers=headers)


def _uploaded(taken: imports.Registered) -> Response:
    trace = imports.imported_trace(context.database(), taken.import_id)
    told = {name: getattr(trace, name) for name in trace.__dataclass_fields__}
    told["comparison_id"] = taken.comparison_id
    uploaded = Uploaded(**told, known=taken.known, raw_returned=taken.raw_returned)
    return answer(uploaded, status=200 if taken.known else 202)


def _check_encoding(request: Request) -> None:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise RequestError(415, f"content encoding {encoding!r}; send the file as it is, gzipped files too")


def _length(request: Request) -> int | None:
    told = request.headers.get("content-length")
    return int(told) if told is not None and told.isascii() and told.isdigit() else None


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK_BYTES):
            yield block


def _attachment(file_name: str) -> str:
    """The name in letters that every client reads, and as it is for those that read RFC 5987."""
    plain = UNSAFE.sub("-", file_name).strip("-.") or "trace"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='', errors='replace')}"


def _media_type(file_name: str) -> str:
    """Nothing that a browser would show by itself."""
    if file_name.endswith(".gz"):
        return "application/gzip"
    known, _ = mimetypes.guess_type(file_name)
    return "application/json" if known == "application/json" else "application/octet-stream"
