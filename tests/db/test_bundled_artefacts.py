"""Generated code travels with a comparison: into the store, out of it, and once however often it comes."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from db.bundles import export_comparison, import_bundle
from db.errors import NotFound
from db.session import Database
from db.store import TraceStore
from profiles.bundle import read_bundle, write_bundle
from profiles.compilation import Artefact
from profiles.plan import Plan
from profiles.results import Results, Trial
from tests.db.examples import H200, attention, measured

CODE = b"@triton.jit\ndef kernel(): ...\n"
SHA256 = hashlib.sha256(CODE).hexdigest()
GENERATED = Artefact(name="output_code.py", sha256=SHA256, size_bytes=len(CODE))
RUNS = tuple(msgspec.structs.replace(measured(v), artefacts=(GENERATED,)) for v in ("naive", "naive_inplace"))
RESULTS = Results(
    preset=None, plan=Plan(), environment=H200, trials=(Trial(workload=attention(), runs=RUNS),), name="Compiled"
)


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore((tmp_path / "traces").as_uri())


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "code").write_bytes(CODE)
    write_bundle(tmp_path / "x.fusescope", RESULTS, {}, artefacts={SHA256: tmp_path / "code"})
    return tmp_path / "x.fusescope"


def stored_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "traces").rglob("*") if path.is_file()]


def test_an_imported_file_is_in_the_store_and_exported_as_it_came(
    sqlite_database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    made = import_bundle(sqlite_database, store, bundle).comparison_ids[0]
    assert store.read_artefact(SHA256) == CODE
    outcome = export_comparison(sqlite_database, store, made, tmp_path / "out.fusescope")
    assert (outcome.artefacts, outcome.artefacts_missing) == (1, 0)
    read = read_bundle(tmp_path / "out.fusescope")
    assert (read.results, read.artefacts) == ((RESULTS,), {SHA256})


def test_the_same_bundle_twice_stores_its_file_once(
    sqlite_database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    import_bundle(sqlite_database, store, bundle)
    before = stored_files(tmp_path)
    assert len(before) == 1
    assert import_bundle(sqlite_database, store, bundle).runs_new == 0
    assert stored_files(tmp_path) == before


def test_a_file_that_comes_later_is_kept_for_the_runs_that_name_it(
    sqlite_database: Database, store: TraceStore, bundle: Path, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "without", RESULTS, {})
    made = import_bundle(sqlite_database, store, tmp_path / "without").comparison_ids[0]
    outcome = export_comparison(sqlite_database, store, made, tmp_path / "out")
    assert (outcome.artefacts, outcome.artefacts_missing) == (0, 1)
    with pytest.raises(NotFound, match=SHA256):
        store.read_artefact(SHA256)
    assert import_bundle(sqlite_database, store, bundle).runs_new == 0
    assert store.read_artefact(SHA256) == CODE


@pytest.mark.parametrize("name", ["../x", "", "A" * 64, "0" * 63])
def test_a_name_that_is_no_hash_is_not_found(store: TraceStore, name: str) -> None:
    with pytest.raises(NotFound, match="is no SHA-256"):
        store.read_artefact(name)
