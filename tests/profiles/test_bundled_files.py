"""The text files in a bundle: carried as they are, and believed only where their run names them so."""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from profiles.bundle import BundleError, extract_artefact, read_bundle, write_bundle
from profiles.compilation import MOST_ARTEFACT_BYTES, Artefact
from profiles.results import Results
from tests.profiles.test_bundle import RESULTS, rewritten

CODE = "@triton.jit\ndef kernel(): ...  # µs\n".encode()
SHA256 = hashlib.sha256(CODE).hexdigest()
NAME = f"artefacts/{SHA256}"
GENERATED = Artefact(name="output_code.py", sha256=SHA256, size_bytes=len(CODE))


def with_artefacts(*artefacts: Artefact) -> Results:
    trial = RESULTS.trials[0]
    runs = (msgspec.structs.replace(trial.runs[0], artefacts=artefacts, trace=None), *trial.runs[1:])
    return msgspec.structs.replace(RESULTS, trials=(msgspec.structs.replace(trial, runs=runs),))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return written(tmp_path, CODE, GENERATED)


def written(tmp_path: Path, data: bytes, *artefacts: Artefact) -> Path:
    code = tmp_path / "code"
    code.write_bytes(data)
    path = tmp_path / "compiled.fusescope"
    write_bundle(path, with_artefacts(*artefacts), {}, artefacts={hashlib.sha256(data).hexdigest(): code})
    return path


def test_generated_code_is_read_back_as_it_was_written(bundle: Path, tmp_path: Path) -> None:
    read = read_bundle(bundle)
    assert read.artefacts == {SHA256}
    assert read.results[0].trials[0].runs[0].artefacts == (GENERATED,)
    extract_artefact(read, SHA256, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CODE


def test_code_that_repeats_itself_is_no_bomb(tmp_path: Path) -> None:
    code = b"\n" * MOST_ARTEFACT_BYTES
    generated = Artefact(name="x.py", sha256=hashlib.sha256(code).hexdigest(), size_bytes=len(code))
    assert read_bundle(written(tmp_path, code, generated)).artefacts == {generated.sha256}


def test_results_whose_files_are_not_carried_are_read_all_the_same(tmp_path: Path) -> None:
    write_bundle(tmp_path / "x", with_artefacts(GENERATED), {})
    assert read_bundle(tmp_path / "x").artefacts == frozenset()


def test_a_file_of_no_run_is_refused_when_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "code").write_bytes(CODE)
    with pytest.raises(BundleError, match=f"the file {SHA256} belongs to no run"):
        write_bundle(tmp_path / "x", RESULTS, {}, artefacts={SHA256: tmp_path / "code"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda members: members.update({NAME: CODE[::-1]}), "another SHA-256 than its name says"),
        (lambda members: members.update({NAME: CODE + b" "}), f"has {len(CODE) + 1} bytes; its run says {len(CODE)}"),
        (lambda members: members.update({f"artefacts/{'0' * 64}": CODE}), "belongs to no run"),
        (lambda members: members.update({f"{NAME}.py": CODE}), "unexpected member"),
        (lambda members: members.update({"artefacts/../x": CODE}), "unexpected member"),
        (lambda members: members.update({f"artefacts/{'A' * 64}": CODE}), "unexpected member"),
    ],
)
def test_a_file_that_is_not_what_its_run_says_is_refused(
    bundle: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    with pytest.raises(BundleError, match=message):
        read_bundle(rewritten(bundle, change))


@pytest.mark.parametrize(
    ("artefacts", "message"),
    [
        ((GENERATED,) * 17, "has 17 files; accepted are up to 16"),
        (
            (msgspec.structs.replace(GENERATED, size_bytes=3 << 20),),
            "has 3,145,728 bytes; accepted are up to 2,097,152",
        ),
        ((msgspec.structs.replace(GENERATED, size_bytes=-1),), "has -1 bytes"),
        ((msgspec.structs.replace(GENERATED, sha256="../../etc/passwd"),), "'../../etc/passwd' .* is no SHA-256"),
        ((GENERATED, msgspec.structs.replace(GENERATED, size_bytes=1)), "has another size"),
    ],
)
def test_a_run_that_names_what_no_run_could_leave_is_refused(
    bundle: Path, artefacts: tuple[Artefact, ...], message: str
) -> None:
    told = msgspec.json.encode(with_artefacts(*artefacts))
    with pytest.raises(BundleError, match=message):
        read_bundle(rewritten(bundle, lambda members: members.update({"results/0.json": told})))


def test_the_archive_holds_files_by_their_hash_alone(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        assert archive.namelist() == ["manifest.json", "results/0.json", NAME]
