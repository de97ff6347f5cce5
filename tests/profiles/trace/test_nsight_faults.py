"""SQLite files that are damaged, something else, or made to harm: refused in one clear line, or read as far as sure."""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.results import Finding
from profiles.trace.child import parse_in_child
from profiles.trace.errors import TraceError, TraceTooLarge, UnreadableTrace, UnsupportedFormat
from profiles.trace.model import SliceKind, Trace, TraceLimits
from profiles.trace.read import read_trace
from profiles.trace.summary import TraceSummary, summarise
from profiles.trace.timeline import timeline
from tests.profiles.trace.nsight_export import CALLS, KERNELS, RANGES, Export

ReadExport = Callable[[Export], Trace]
Written = Callable[..., Path]


@pytest.fixture
def export() -> Export:
    return Export()


@pytest.fixture
def read_export(tmp_path: Path) -> ReadExport:
    return lambda export: read_trace(export.save(tmp_path / "export.sqlite"))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A database made by these statements."""

    def write(*statements: str, path: Path = tmp_path / "written.sqlite") -> Path:
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return path

    return write


def _finding(summary: TraceSummary, code: str) -> Finding:
    return next(finding for finding in summary.health if finding.code == code)


def test_another_database_is_refused_with_its_tables(written: Written) -> None:
    with pytest.raises(UnsupportedFormat, match=r"none that Nsight Systems exported \(its tables: 'notes', 'people'\)"):
        read_trace(written("CREATE TABLE people (name)", "CREATE TABLE notes (text)"))


def test_a_database_without_tables_is_refused(written: Written) -> None:
    with pytest.raises(UnsupportedFormat, match="its tables: none"):
        read_trace(written("CREATE TABLE a (b)", "DROP TABLE a"))


def test_a_database_of_nvprof_is_refused_by_name(written: Written) -> None:
    with pytest.raises(UnsupportedFormat, match="nvprof"):
        read_trace(written("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end)"))


@pytest.mark.parametrize("name", ["report.nsys-rep", "old.qdrep"])
def test_a_report_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"a report\x00\x01\x02 of some form")
    with pytest.raises(UnsupportedFormat, match="nsys export --type sqlite"):
        read_trace(path)


def test_content_decides_also_about_the_name_of_a_report(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    assert summarise(read_trace(export.save(tmp_path / "export.nsys-rep"))).kernels == 1


@pytest.mark.parametrize("kept", [16, 99, 100, 4_096, 9_000])
def test_a_truncated_database_is_refused_with_its_length(export: Export, tmp_path: Path, kept: int) -> None:
    export.launched(1_000, 1)
    path = export.save(tmp_path / "export.sqlite")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UnreadableTrace, match=rf"truncated: the SQLite database ends after {kept:,}"):
        read_trace(path)


def test_a_damaged_page_is_refused(export: Export, tmp_path: Path) -> None:
    for number in range(1, 2_000):
        export.launched(1_000 * number, number)
    content = bytearray(export.save(tmp_path / "export.sqlite").read_bytes())
    content[40_960:81_920] = b"\xff" * 40_960
    (tmp_path / "damaged.sqlite").write_bytes(content)
    with pytest.raises(UnreadableTrace, match="damaged SQLite database: database disk image is malformed"):
        read_trace(tmp_path / "damaged.sqlite")


def test_a_damaged_header_is_refused(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    content = bytearray(export.save(tmp_path / "export.sqlite").read_bytes())
    content[16:18] = b"\x00\x07"  # the size of a page
    (tmp_path / "damaged.sqlite").write_bytes(content)
    with pytest.raises(UnreadableTrace, match="damaged SQLite database: file is not a database"):
        read_trace(tmp_path / "damaged.sqlite")


def test_a_schema_that_is_no_text_is_refused(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    content = (
        export.save(tmp_path / "export.sqlite")
        .read_bytes()
        .replace(b"CREATE TABLE String", b"CREATE \xff\xfe\xfd\xfc\xfb String")
    )
    (tmp_path / "damaged.sqlite").write_bytes(content)
    with pytest.raises(UnreadableTrace, match="damaged SQLite database"):
        read_trace(tmp_path / "damaged.sqlite")


def test_a_truncated_packed_export_is_refused(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    path = tmp_path / "export.sqlite.gz"
    path.write_bytes(gzip.compress(export.save(tmp_path / "export.sqlite").read_bytes())[:-20])
    with pytest.raises(UnreadableTrace, match="truncated: the gzip data ends early"):
        read_trace(path)


def test_a_packed_export_has_the_limits_of_what_is_packed(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1)
    path = tmp_path / "export.sqlite.gz"
    path.write_bytes(gzip.compress(export.save(tmp_path / "export.sqlite").read_bytes()))
    with pytest.raises(TraceTooLarge, match="larger than the limit of 4,000 bytes of decompressed"):
        read_trace(path, limits=TraceLimits(max_bytes=4_000))


@pytest.mark.parametrize("odd", ["soon", 12.5, b"\x01\x02", -(2**63), 2**63 - 1, 2**62 + 1])
def test_a_time_that_is_no_number_of_ns_leaves_its_record_out(
    export: Export, read_export: ReadExport, odd: object
) -> None:
    export.launched(1_000, 1)
    export.kernel(odd, 0, 2)
    export.kernel(2_000, 50, 3, end=odd)
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.kernel_sum_ns) == (1, 50)
    assert _finding(summary, "malformed_records").count == 2
    assert set(summary.doubtful) >= {"launches", "gpu_span_ns", "idle", "devices.idle", "steps.kernels"}


def test_a_time_that_is_missing_or_before_its_start_is_invalid(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1)
    export.kernel(None, 0, 2)
    export.kernel(2_000, 50, 3, end=None)
    export.kernel(3_000, -1, 4)
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.kernel_sum_ns) == (1, 50)
    assert _finding(summary, "invalid_records").count == 3


def test_malformed_records_alone_are_an_export_without_slices(export: Export, read_export: ReadExport) -> None:
    export.kernel("soon", 0, 1)
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.gpu_span_ns) == (0, None)


@pytest.mark.parametrize("odd", [None, "seven", 1.5, b"\x07", 2**63 - 1, -(2**63)])
def test_places_and_correlations_of_the_wrong_kind_are_unknown(
    export: Export, read_export: ReadExport, odd: object
) -> None:
    export.call("cudaLaunchKernel_v7000", 900, 1)
    export.add(KERNELS, start=1_000, end=1_050, correlationId=odd, deviceId=odd, contextId=odd, streamId=odd,
               globalPid=odd, demangledName=odd)  # fmt: skip
    export.add(CALLS, start=1_100, end=1_150, correlationId=odd, globalTid=odd, nameId=odd)
    export.add(RANGES, start=1_200, end=1_250, eventType=59, globalTid=odd, textId=odd)
    trace = read_export(export)
    summary = summarise(trace)
    assert (summary.kernels, summary.linked_kernels) == (1, 0)
    assert len(timeline(trace).start_ns) == 4


def test_a_record_twice_in_the_file_counts_once(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1)
    export.rows[KERNELS] *= 2
    summary = summarise(read_export(export))
    assert (summary.kernels, summary.kernel_sum_ns) == (1, 50)
    assert _finding(summary, "duplicate_records").count == 1


def test_names_with_nuls_and_broken_text_stay_text(export: Export, tmp_path: Path) -> None:
    export.launched(1_000, 1, name="a\0b")
    path = export.save(tmp_path / "export.sqlite")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE StringIds SET value = CAST(x'61ff62' AS TEXT) WHERE id = 1")
    connection.commit()
    connection.close()
    assert read_trace(path).names == ("a\N{REPLACEMENT CHARACTER}b",)


def test_a_name_that_is_no_text_is_none(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, demangledName=export.string(b"\x00\x01"))
    export.launched(1_200, 2, demangledName=export.string(7))
    trace = read_export(export)
    assert [trace.names[trace.slices.name[row]] for row in trace.slices.of(SliceKind.KERNEL)] == ["(no name)"] * 2


def test_a_value_without_measure_is_refused(export: Export, read_export: ReadExport) -> None:
    export.launched(1_000, 1, name="x" * (17 << 20))
    with pytest.raises(TraceError, match="a value of more than the limit of 16,777,216 bytes"):
        read_export(export)


def test_a_journal_beside_the_file_is_not_played_back(export: Export, tmp_path: Path, written: Written) -> None:
    export.launched(1_000, 1)
    path = export.save(tmp_path / "export.sqlite")
    written("PRAGMA journal_mode = WAL", path=path)
    (tmp_path / "export.sqlite-wal").write_bytes(b"\x37\x7f\x06\x82" + b"\x00" * 5_000)
    (tmp_path / "export.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\x00" * 5_000)
    before = sorted(tmp_path.iterdir())
    assert summarise(read_trace(path)).kernels == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_view_in_the_place_of_a_table_is_not_run(written: Written) -> None:
    path = written(
        "CREATE TABLE TARGET_INFO_GPU (id, name)",
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS start, i + 1 AS end, 0 AS deviceId FROM n",
    )
    begun = time.monotonic()
    assert summarise(read_trace(path)).kernels is None
    assert time.monotonic() - begun < 60


def test_a_virtual_table_and_a_generated_column_are_not_run(written: Written) -> None:
    path = written(
        "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_RUNTIME USING fts5(start, end, nameId)",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, deviceId, end AS (start + 5))",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 0)",
    )
    summary = summarise(read_trace(path))
    assert (summary.launches, summary.kernels) == (None, 0)
    assert _finding(summary, "invalid_records").count == 1


def test_tables_with_hostile_names_are_only_counted(written: Written) -> None:
    path = written(
        'CREATE TABLE "a""; DROP TABLE b; --" (start, end)',
        'INSERT INTO "a""; DROP TABLE b; --" VALUES (1, 2)',
        "CREATE TABLE TARGET_INFO_GPU (id, name)",
    )
    assert read_trace(path).records == 1


def test_an_export_larger_than_memory_allows_is_refused(export: Export, tmp_path: Path) -> None:
    export.string("some_kernel")
    path = export.save(tmp_path / "export.sqlite")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName)")
    connection.execute(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE"
        " n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT i * 10, i * 10 + 5, 0, 7, 1 FROM n"
    )
    connection.commit()
    connection.close()
    with pytest.raises(TraceTooLarge, match="more than the limit of 200,000,000 bytes of memory"):
        parse_in_child(path, device=None, directory=tmp_path, memory_limit=200_000_000)


def test_the_parse_child_unpacks_into_the_folder_that_it_was_given(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export.launched(1_000, 1)
    packed = tmp_path / "export.sqlite.gz"
    packed.write_bytes(gzip.compress(export.save(tmp_path / "export.sqlite").read_bytes()))
    folder, elsewhere = tmp_path / "parsed", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    untouched_ns = elsewhere.stat().st_mtime_ns
    assert parse_in_child(packed, device=None, directory=folder).summary.kernels == 1
    assert elsewhere.stat().st_mtime_ns == untouched_ns
    assert sorted(path.name for path in folder.iterdir()) == ["contents.json", "summary.json", "timeline.npz"]


@pytest.fixture(scope="module")
def whole() -> bytes:
    export = Export()
    for number in range(1, 30):
        export.range(f"ProfilerStep#{number}", 1_000 * number, 1_000 * number + 900)
        export.launched(1_000 * number + 100, number, gridX=1, blockX=32, name="k\N{GREEK SMALL LETTER BETA}" * 9)
    export.add("TARGET_INFO_GPU", id=0, name="Test GPU", cuDevice=0)
    with tempfile.TemporaryDirectory() as directory:
        return export.save(Path(directory) / "export.sqlite").read_bytes()


@settings(max_examples=150, deadline=None)
@given(edits=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=9)), max_size=8))
def test_whatever_the_damage_it_is_read_or_refused_in_words(whole: bytes, edits: list[tuple[float, bytes]]) -> None:
    content = bytearray(whole)
    for place, new in edits:
        at = 16 + int(place * (len(content) - 16))
        content[at : at + len(new)] = new
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "damaged.sqlite"
        path.write_bytes(content)
        with contextlib.suppress(TraceError):
            trace = read_trace(path)
            summarise(trace)
            timeline(trace)
