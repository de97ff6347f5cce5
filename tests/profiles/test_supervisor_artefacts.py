"""The text files that a child leaves: kept where they are what the run says, left out with a finding otherwise."""

import hashlib
from pathlib import Path

import pytest

from profiles.compilation import MOST_ARTEFACT_BYTES, Artefact
from profiles.results import Run, RunStatus
from profiles.supervisor.artefacts import keep_artefacts

CODE = b"def kernel(): ...\n"


def left(directory: Path, data: bytes, *, name: str = "code.py") -> Artefact:
    sha256 = hashlib.sha256(data).hexdigest()
    (directory / sha256).write_bytes(data)
    return Artefact(name=name, sha256=sha256, size_bytes=len(data))


def leaving(*artefacts: Artefact) -> Run:
    return Run(variant="unfused@compile", status=RunStatus.SUCCEEDED, artefacts=artefacts)


def test_files_that_are_as_the_run_says_are_kept(tmp_path: Path) -> None:
    one, two = left(tmp_path, CODE), left(tmp_path, CODE * 2)
    run, paths = keep_artefacts(leaving(one, two), tmp_path)
    assert run == leaving(one, two)
    assert paths == {one.sha256: tmp_path / one.sha256, two.sha256: tmp_path / two.sha256}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: path.unlink(), "the file is missing"),
        (lambda path: path.write_bytes(CODE + b"x"), "the file has 19 bytes; said were 18"),
        (lambda path: path.write_bytes(CODE[::-1]), "another SHA-256"),
    ],
)
def test_a_file_that_is_not_as_the_run_says_is_left_out_by_name(tmp_path: Path, spoil, reason: str) -> None:  # type: ignore[no-untyped-def]
    good, bad = left(tmp_path, CODE * 2, name="good.py"), left(tmp_path, CODE, name="bad.py")
    spoil(tmp_path / bad.sha256)
    run, paths = keep_artefacts(leaving(bad, good), tmp_path)
    assert run.artefacts == (good,)
    assert list(paths) == [good.sha256]
    (finding,) = run.trace_health
    assert finding.code == "artefact_left_out"
    assert finding.message.startswith("bad.py: ")
    assert reason in finding.message


def test_what_is_too_large_or_too_many_is_left_out(tmp_path: Path) -> None:
    large = left(tmp_path, b"x" * (MOST_ARTEFACT_BYTES + 1))
    many = [left(tmp_path, b"%d" % number) for number in range(17)]
    assert keep_artefacts(leaving(large), tmp_path)[1] == {}
    run, paths = keep_artefacts(leaving(*many), tmp_path)
    assert (len(run.artefacts), len(paths)) == (16, 16)
    assert run.trace_health[0].message == "17 files were left; kept are the first 16"


def test_a_name_that_leads_out_of_the_directory_reads_nothing_there(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    outside = left(tmp_path, CODE)
    lying = Artefact(name="x", sha256=f"../{outside.sha256}", size_bytes=outside.size_bytes)
    assert keep_artefacts(leaving(lying), inside)[1] == {}
