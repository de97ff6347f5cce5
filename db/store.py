"""Raw traces, and runs' text files, under an fsspec URL, each by the SHA-256 of its bytes: a directory here, object
storage there. Files that wait to be read lie beside them under names of their own. A store belongs to one database."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from db.errors import NotFound

BLOCK = 1 << 20
SHA256 = re.compile(r"[0-9a-f]{64}")
WAITING = re.compile(r"[0-9a-f]{32}")
UNFINISHED = re.compile(r"(artefacts/)?[0-9a-f]{2}/\.[0-9a-f]{32}\.part")


class Kind(StrEnum):
    """What is kept by its hash."""

    RAW = "raw trace"
    ARTEFACT = "text file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What the store holds beside waiting files: those by their hash, and the places of those never finished."""

    hashes: dict[Kind, list[str]]
    unfinished: list[str]


class TraceStore:
    def __init__(self, url: str) -> None:
        # What others put and remove meanwhile counts: no listing is kept.
        self._files, self._root = fsspec.core.url_to_fs(url, use_listings_cache=False)

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
            self._remove(unfinished)
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

    def remove(self, sha256: str) -> None:
        """The raw trace is gone; nothing where it was not there."""
        self._remove(self._place(sha256))

    def listing(self) -> Listing:
        """Slow where the store is far away."""
        found = Listing(hashes={kind: [] for kind in Kind}, unfinished=[])
        for place in map(str, self._files.find(self._root)):
            if UNFINISHED.fullmatch(place.removeprefix(f"{self._root}/")):
                found.unfinished.append(place)
            elif SHA256.fullmatch(sha256 := place.rpartition("/")[2].partition(".")[0]):
                for kind in Kind:
                    if place == self._of(kind, sha256):
                        found.hashes[kind].append(sha256)
        return found

    def is_old(self, kind: Kind, sha256: str, *, older_than_s: float) -> bool:
        """Whether the file was put so long ago; False of one that is not there."""
        return self._age_s(self._of(kind, sha256)) > older_than_s

    def remove_old(self, kind: Kind, sha256: str, *, older_than_s: float) -> bool:
        """Remove the file if it was put so long ago; whether it was."""
        if not self.is_old(kind, sha256, older_than_s=older_than_s):
            return False
        self._remove(self._of(kind, sha256))
        return True

    def remove_unfinished(self, listing: Listing, *, older_than_s: float) -> int:
        """Remove what nobody has written to for so long; how many there were."""
        old = [place for place in listing.unfinished if self._age_s(place) > older_than_s]
        for place in old:
            self._remove(place)
        return len(old)

    def take_over(self, path: Path) -> str:
        """Move a file here, away from `path`, that is still to be read; the name that it waits under."""
        name = uuid.uuid4().hex
        place = self._waiting(name)
        self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
        try:
            if isinstance(self._files, LocalFileSystem):
                self._files.mv(str(path), place)
            else:
                self._files.put_file(str(path), place)
                path.unlink()
        except BaseException:  # of another disk, which fills up: half a file waits for nobody
            self._remove(place)
            raise
        return name

    def fetch_waiting(self, name: str, path: Path) -> None:
        """Copy a waiting file to `path`. NotFound where the store does not hold it."""
        try:
            self._files.get_file(self._waiting(name), str(path))
        except FileNotFoundError as error:
            raise NotFound(f"the uploaded file {name} is not in the trace store") from error

    def holds_waiting(self, name: str) -> bool:
        return bool(self._files.exists(self._waiting(name)))

    def open_waiting(self, name: str) -> BinaryIO:
        """NotFound where the store does not hold it."""
        try:
            return cast("BinaryIO", self._files.open(self._waiting(name), "rb"))
        except FileNotFoundError as error:
            raise NotFound(f"the uploaded file {name} is not in the trace store") from error

    def keep_waiting(self, name: str, sha256: str) -> None:
        """A waiting file was read: from now on it is the raw trace of that hash. Twice is once."""
        place, waiting = self._place(sha256), self._waiting(name)
        if self._files.exists(place):
            self._remove(waiting)
            return
        self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
        self._files.mv(waiting, place)

    def remove_waiting(self, name: str) -> None:
        self._remove(self._waiting(name))

    def waiting(self, *, older_than_s: float) -> Iterator[str]:
        """The names of the files that wait for so long, whoever may want them."""
        folder = f"{self._root}/waiting"
        if not self._files.exists(folder):
            return
        for place in self._files.ls(folder, detail=False):
            name = str(place).rpartition("/")[2]
            if WAITING.fullmatch(name) and self._age_s(str(place)) > older_than_s:
                yield name

    def _age_s(self, place: str) -> float:
        try:
            changed: datetime = self._files.modified(place)
        except (FileNotFoundError, NotImplementedError):  # taken meanwhile, or a store that tells no times
            return 0.0
        return (datetime.now(UTC) - changed.astimezone(UTC)).total_seconds()

    def _remove(self, place: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(place)

    def _waiting(self, name: str) -> str:
        if not WAITING.fullmatch(name):
            raise NotFound(f"{name!r} is no name of a waiting file")
        return f"{self._root}/waiting/{name}"

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

    def _of(self, kind: Kind, sha256: str) -> str:
        return self._place(sha256) if kind is Kind.RAW else self._artefact(sha256)

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
