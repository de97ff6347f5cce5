import hashlib
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from profiles.archive import ArchiveLimits
from profiles.bundle import (
    BundledComparison,
    BundledEntry,
    BundledView,
    BundleError,
    extract_trace,
    read_bundle,
    write_bundle,
)
from profiles.environment import Environment
from profiles.plan import Plan
from profiles.results import Metric, Results, Run, RunStatus, Trial
from profiles.workload import DType, Workload

TRACE_TEXT = b"a trace, compressed when it was recorded"
SHA256 = hashlib.sha256(TRACE_TEXT).hexdigest()
ENVIRONMENT = Environment(device="cpu", device_name="a CPU", torch="2.13.0", python="3.12.3", platform="linux")
WORKLOAD = Workload(operation="residual_rms_norm", axes={"rows": 8, "width": 8}, dtype=DType.FP32)


def run(variant: str, *, trace: str | None = None, value: float = 1.5) -> Run:
    metric = Metric(name="call_time", unit="ns", statistic="median", value=value, samples=(1.25, value))
    return Run(variant=variant, status=RunStatus.SUCCEEDED, metrics=(metric,), trace=trace)


RESULTS = Results(
    preset="fusion-pairs",
    plan=Plan(),
    environment=ENVIRONMENT,
    trials=(Trial(workload=WORKLOAD, runs=(run("unfused", trace=SHA256), run("functional"))),),
    name="Norms",
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "unfused.json.gz"
    path.write_bytes(TRACE_TEXT)
    return path


@pytest.fixture
def bundle(tmp_path: Path, trace: Path) -> Path:
    path = tmp_path / "norms.fusescope"
    write_bundle(path, RESULTS, {SHA256: trace})
    return path


def rewritten(bundle: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The bundle with other members, packed honestly."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    path = bundle.with_name("changed.fusescope")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def with_member(bundle: Path, member: zipfile.ZipInfo | str, data: bytes = b"{}") -> Path:
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr(member, data)
    return bundle


def patched(bundle: Path, name: str, *, offset: int, value: bytes) -> Path:
    """The bundle with a field of a member's record in the central directory changed."""
    data = bytearray(bundle.read_bytes())
    at = data.rindex(name.encode()) - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + offset : at + offset + len(value)] = value
    bundle.write_bytes(data)
    return bundle


def test_what_was_written_is_read_back(bundle: Path, tmp_path: Path) -> None:
    read = read_bundle(bundle)
    assert read.results == (RESULTS,)
    assert read.traces == {SHA256}
    assert read.comparison.name == "Norms"
    assert [(entry.key, entry.run) for entry in read.entries] == list(zip("AB", RESULTS.trials[0].runs, strict=True))
    extract_trace(read, SHA256, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == TRACE_TEXT


def test_each_results_file_is_the_json_that_run_prints(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        assert archive.namelist() == ["manifest.json", "results/0.json", f"traces/{SHA256}.json.gz"]
        assert archive.read("results/0.json") == msgspec.json.encode(RESULTS)


def test_a_comparison_over_several_environments_keeps_its_order_and_view(tmp_path: Path) -> None:
    other = msgspec.structs.replace(RESULTS, environment=msgspec.structs.replace(ENVIRONMENT, torch="2.14.0"))
    comparison = BundledComparison(
        name="Two torches",
        entries=(
            BundledEntry(key="B", results=1, trial=0, run=1),
            BundledEntry(key="A", results=0, trial=0, run=1),
        ),
        view=BundledView(base="A", lanes=("B",)),
    )
    write_bundle(tmp_path / "two.fusescope", [RESULTS, other], {}, comparison=comparison)
    read = read_bundle(tmp_path / "two.fusescope")
    assert read.comparison == comparison
    assert read.results == (RESULTS, other)
    assert [(entry.key, entry.environment.torch) for entry in read.entries] == [("B", "2.14.0"), ("A", "2.13.0")]


def test_equal_contents_make_equal_files(tmp_path: Path, trace: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        write_bundle(path, RESULTS, {SHA256: trace})
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_bundle_that_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot be written"):
        write_bundle(tmp_path / "x.fusescope", RESULTS, {SHA256: tmp_path / "missing"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_say_is_refused_when_it_is_written(tmp_path: Path, value: float) -> None:
    trials = (Trial(workload=WORKLOAD, runs=(run("unfused", value=value),)),)
    with pytest.raises(BundleError, match="not finite"):
        write_bundle(tmp_path / "x", msgspec.structs.replace(RESULTS, trials=trials), {})
    assert list(tmp_path.iterdir()) == []


def test_a_trace_of_no_run_is_refused_when_it_is_written(tmp_path: Path, trace: Path) -> None:
    with pytest.raises(BundleError, match="belongs to no run"):
        write_bundle(tmp_path / "x", RESULTS, {"0" * 64: trace})


@pytest.mark.parametrize(
    "name",
    [
        "../evil.json",
        "results/../../evil.json",
        "/etc/passwd",
        "C:\\evil.json",
        "results\\1.json",
        "results/",
        "results/01.json",
        "results/1.json/../../x",
        "traces/" + "A" * 64 + ".json.gz",
        "manifest.json\0.txt",
        "readme.txt",
        "manifest.JSON",
    ],
)
def test_a_member_of_any_other_name_is_refused(bundle: Path, name: str) -> None:
    member = zipfile.ZipInfo("placeholder")
    member.filename = member.orig_filename = name
    with pytest.raises(BundleError, match="unexpected member"):
        read_bundle(with_member(bundle, member))


def test_a_symbolic_link_is_refused(bundle: Path) -> None:
    link = zipfile.ZipInfo("results/1.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(BundleError, match=r"results/1\.json is no plain file"):
        read_bundle(with_member(bundle, link, b"/etc/passwd"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(bundle: Path) -> None:
    with pytest.raises(BundleError, match=r"manifest\.json is in the archive 2 times"):
        read_bundle(with_member(bundle, "manifest.json"))


def test_an_encrypted_member_is_refused(bundle: Path) -> None:
    with pytest.raises(BundleError, match=r"results/0\.json is encrypted"):
        read_bundle(patched(bundle, "results/0.json", offset=8, value=struct.pack("<H", 1)))


def test_another_packing_method_is_refused(bundle: Path) -> None:
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr("results/1.json", b"{}", compress_type=zipfile.ZIP_LZMA)
    with pytest.raises(BundleError, match="packed by method 14"):
        read_bundle(bundle)


def test_a_bomb_is_refused_by_its_ratio_before_it_is_unpacked(bundle: Path) -> None:
    with zipfile.ZipFile(bundle, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("results/1.json", b" " * (8 << 20))
    with pytest.raises(BundleError, match="more than 200 times its size"):
        read_bundle(bundle)


def test_a_bomb_that_lies_about_its_size_unpacks_no_further_than_it_says(bundle: Path) -> None:
    honest = msgspec.json.encode(RESULTS)
    bomb = rewritten(bundle, lambda members: members.update({"results/0.json": honest + b" " * (8 << 20)}))
    lying = patched(bomb, "results/0.json", offset=24, value=struct.pack("<L", len(honest)))
    with pytest.raises(BundleError, match="the archive is broken: Bad CRC-32"):
        read_bundle(lying)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (ArchiveLimits(archive=100), "the file has [0-9,]+ bytes; accepted are up to 100"),
        (ArchiveLimits(members=2), "the archive has 3 or more members; accepted are up to 2"),
        (ArchiveLimits(member=30), "unpacks to [0-9,]+ bytes; accepted are up to 30"),
        (ArchiveLimits(total=500), "the archive unpacks to [0-9,]+ bytes; accepted are up to 500"),
    ],
)
def test_what_is_over_a_limit_is_refused_by_name(bundle: Path, limits: ArchiveLimits, message: str) -> None:
    with pytest.raises(BundleError, match=message):
        read_bundle(bundle, limits=limits)


def test_many_results_that_are_too_large_together_are_refused_before_one_is_decoded(tmp_path: Path) -> None:
    padded = msgspec.json.encode(RESULTS) + b" " * 900_000
    many = tmp_path / "many.fusescope"
    with zipfile.ZipFile(many, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", msgspec.json.encode({"format": "fusescope-bundle", "results": 80}))
        for number in range(80):
            archive.writestr(f"results/{number}.json", padded)
    with pytest.raises(BundleError, match="bytes together; accepted are up to 67,108,864"):
        read_bundle(many)


def test_millions_of_members_are_refused_without_reading_their_directory(bundle: Path) -> None:
    data = bytearray(bundle.read_bytes())
    data[-10:-6] = struct.pack("<L", 1 << 30)  # the size of the central directory
    bundle.write_bytes(data)
    with pytest.raises(BundleError, match="members; accepted are up to 10,000"):
        read_bundle(bundle)


@pytest.mark.parametrize("kept", [0, 1, 21, 22, 100, -1, -30])
def test_a_truncated_bundle_is_refused(bundle: Path, kept: int) -> None:
    bundle.write_bytes(bundle.read_bytes()[:kept])
    with pytest.raises(BundleError, match=r"norms\.fusescope: the file is no zip archive, or its end is missing"):
        read_bundle(bundle)


def test_every_flipped_byte_is_noticed_or_harmless(bundle: Path) -> None:
    whole = bundle.read_bytes()
    expected = read_bundle(bundle)
    for position in range(len(whole)):
        broken = bytearray(whole)
        broken[position] ^= 0xFF
        bundle.write_bytes(broken)
        try:
            found = read_bundle(bundle)
        except BundleError:
            continue
        assert (found.results, found.traces) == (expected.results, expected.traces)


def test_a_trace_of_another_hash_is_refused(bundle: Path) -> None:
    changed = rewritten(bundle, lambda members: members.update({f"traces/{SHA256}.json.gz": b"another trace"}))
    with pytest.raises(BundleError, match="has another SHA-256 than its name says"):
        read_bundle(changed)


def test_a_trace_that_no_run_names_is_refused(bundle: Path) -> None:
    name = f"traces/{hashlib.sha256(b'x').hexdigest()}.json.gz"
    with pytest.raises(BundleError, match="belongs to no run"):
        read_bundle(with_member(bundle, name, b"x"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("manifest.json", b"{", r"manifest\.json: Input data was truncated"),
        ("manifest.json", b'{"format": "zip", "results": 1}', "the manifest's format is 'zip'"),
        ("manifest.json", b'{"format": "fusescope-bundle", "schema": 2, "results": 1}', "has schema 2; this version"),
        ("manifest.json", b'{"format": "fusescope-bundle", "results": 2}', "speaks of 2 results"),
        ("manifest.json", b'{"format": "fusescope-bundle", "results": -1}', "speaks of -1 results"),
        ("manifest.json", b'{"format": "fusescope-bundle", "results": 99999999999}', "speaks of 99999999999 results"),
        ("results/0.json", b"[]", r"results/0\.json: Expected `object`, got `array`"),
        ("results/0.json", b"\xff\xfe", r"results/0\.json: "),
        ("results/0.json", b'{"schema":' + b"[" * 100_000, r"results/0\.json: "),
        ("results/0.json", msgspec.json.encode(msgspec.structs.replace(RESULTS, schema=9)), "have schema 9"),
        ("results/0.json", msgspec.json.encode(RESULTS).replace(b"1.5", b"NaN"), r"results/0\.json: JSON is malformed"),
        ("results/0.json", msgspec.json.encode(RESULTS).replace(b"succeeded", b"splendid"), "Invalid enum value"),
    ],
)
def test_wrong_json_is_refused_with_its_place(bundle: Path, name: str, text: bytes, message: str) -> None:
    with pytest.raises(BundleError, match=message):
        read_bundle(rewritten(bundle, lambda members: members.update({name: text})))


@pytest.mark.parametrize("missing", ["manifest.json", "results/0.json"])
def test_a_missing_part_is_named(bundle: Path, missing: str) -> None:
    with pytest.raises(BundleError, match="manifest"):
        read_bundle(rewritten(bundle, lambda members: members.pop(missing) and None))


@pytest.mark.parametrize(
    ("comparison", "message"),
    [
        (BundledComparison(name="x", entries=()), "no entries"),
        (BundledComparison(name=" ", entries=(BundledEntry(key="A", results=0, trial=0, run=0),)), "name has 1 char"),
        (BundledComparison(name="x", entries=(BundledEntry(key="A", results=0, trial=0, run=2),)), "to no run"),
        (BundledComparison(name="x", entries=(BundledEntry(key="A", results=-1, trial=0, run=0),)), "to no run"),
        (BundledComparison(name="x", entries=(BundledEntry(key="<b>", results=0, trial=0, run=0),)), "is no key"),
        (BundledComparison(name="x", entries=(BundledEntry(key="A", results=0, trial=0, run=0),) * 2), "the same key"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused(tmp_path: Path, comparison: BundledComparison, message: str) -> None:
    write_bundle(tmp_path / "x", RESULTS, {}, comparison=comparison)
    with pytest.raises(BundleError, match=message):
        read_bundle(tmp_path / "x")


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="No such file"):
        read_bundle(tmp_path / "missing")
    with pytest.raises(BundleError, match=os.fspath(tmp_path)):
        read_bundle(tmp_path)
