"""Raw traces, and runs' text files, under an fsspec URL, each by the SHA-256 of its bytes: a directory here, object
storage there."""

from __future__ import annotations

import hashlib
import re
import uuid
from pathlib import Path
from typing import BinaryIO, cast

import fsspec

from db.errors import NotFound

BLOCK = 1 << 20
SHA256 = re.compile(r"[0-9a-f]{64}")


class TraceStore:
    def __init__(self, url: str) -> None:
        self._files, self._root = fsspec.core.url_to_fs(url)

    def put(self, path: Path) -> str:
        """Keep a copy of the raw trace; its SHA-256. It appears whole or not at all, and twice is once."""
        sha256 = file_sha256(path)
        self._put(path, self._place(sha256))
        return sha256

    def put_artefact(self, path: Path) -> str:
        """As `put`, for a text file of a run."""
        sha256 = file_sha256(path)
        self._put(path, self._artefact(sha256))
        return sha256

    def _put(self, path: Path, place: str) -> None:
        if self._files.exists(place):
            return
        parent = place.rpartition("/")[0]
        self._files.makedirs(parent, exist_ok=True)
        unfinished = f"{parent}/.{uuid.uuid4().hex}.part"
        try:
            self._files.put_file(str(path), unfinished)
            self._files.mv(unfinished, place)
        except BaseException:
            if self._files.exists(unfinished):
                self._files.rm_file(unfinished)
            raise

    def open(self, sha256: str) -> BinaryIO:
        """The raw file. NotFound where the store does not hold it (any more)."""
        try:
            return cast("BinaryIO", self._files.open(self._place(sha256), "rb"))
        except FileNotFoundError as error:
            raise NotFound(f"the raw trace {sha256} is not in the trace store") from error

    def fetch(self, sha256: str, path: Path) -> None:
        """Copy the raw file to `path`. NotFound where the store does not hold it."""
        try:
            self._files.get_file(self._place(sha256), str(path))
        except FileNotFoundError as error:
            raise NotFound(f"the raw trace {sha256} is not in the trace store") from error

    def holds(self, sha256: str) -> bool:
        return bool(self._files.exists(self._place(sha256)))

    def fetch_artefact(self, sha256: str, path: Path) -> None:
        """Copy the text file to `path`. NotFound where the store does not hold it."""
        try:
            self._files.get_file(self._artefact(sha256), str(path))
        except FileNotFoundError as error:
            raise NotFound(f"the file {sha256} is not in the trace store") from error

    def read_artefact(self, sha256: str) -> bytes:
        """NotFound where the store does not hold it."""
        try:
            return cast("bytes", self._files.cat_file(self._artefact(sha256)))
        except FileNotFoundError as error:
            raise NotFound(f"the file {sha256} is not in the trace store") from error

    def holds_artefact(self, sha256: str) -> bool:
        return bool(self._files.exists(self._artefact(sha256)))

    def _place(self, sha256: str) -> str:
        return f"{self._root}/{_checked(sha256)[:2]}/{sha256}.json.gz"

    def _artefact(self, sha256: str) -> str:
        return f"{self._root}/artefacts/{_checked(sha256)[:2]}/{sha256}.txt"


def _checked(sha256: str) -> str:
    if not SHA256.fullmatch(sha256):
        raise NotFound(f"{sha256!r} is no SHA-256")
    return sha256


def file_sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
