"""Files of every shape: what is read, what is repaired, and what is refused with which words."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles.trace.errors import TraceError, TraceTooLarge, UnreadableTrace, UnsupportedFormat
from profiles.trace.model import SliceKind, Trace, TraceLimits
from profiles.trace.read import read_trace

if TYPE_CHECKING:
    from conftest import Draft

ReadText = Callable[[str | bytes], Trace]
ReadDraft = Callable[["Draft"], Trace]


def _codes(trace: Trace) -> list[str]:
    return [finding.code for finding in trace.findings]


def _kernels(trace: Trace) -> int:
    return len(trace.slices.of(SliceKind.KERNEL))


@pytest.fixture
def two_kernels(draft: Draft) -> Draft:
    draft.launched(100, 1, name="first")
    draft.launched(200, 2, name="second")
    return draft


def test_a_list_of_events_is_a_trace(two_kernels: Draft, read_text: ReadText) -> None:
    trace = read_text(json.dumps(two_kernels.events))
    assert _kernels(trace) == 2
    assert trace.records == 4
    assert trace.findings == ()


def test_a_list_without_its_closing_bracket_is_read_and_marked(two_kernels: Draft, read_text: ReadText) -> None:
    trace = read_text(json.dumps(two_kernels.events)[:-1])
    assert _kernels(trace) == 2
    assert _codes(trace) == ["truncated"]


def test_a_list_cut_within_an_event_keeps_the_whole_ones(two_kernels: Draft, read_text: ReadText) -> None:
    trace = read_text(json.dumps(two_kernels.events)[:-20])
    assert _kernels(trace) == 1
    assert _codes(trace) == ["truncated"]


def test_an_object_cut_short_is_refused_with_the_place(two_kernels: Draft, read_text: ReadText) -> None:
    with pytest.raises(UnreadableTrace, match=r"truncated: the file ends at byte [\d,]+, .* after 3 of them"):
        read_text(two_kernels.text()[:-20])


def test_content_decides_about_gzip_not_the_name(two_kernels: Draft, tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.json.gz", tmp_path / "packed.json"
    plain.write_text(two_kernels.text())
    packed.write_bytes(gzip.compress(two_kernels.text().encode()))
    assert _kernels(read_trace(plain)) == _kernels(read_trace(packed)) == 2


def test_gzip_members_follow_one_another(two_kernels: Draft, tmp_path: Path) -> None:
    text = two_kernels.text().encode()
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(text[:100]) + gzip.compress(text[100:]))
    assert _kernels(read_trace(path)) == 2


def test_truncated_gzip_is_refused(two_kernels: Draft, tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(two_kernels.text().encode())[:-30])
    with pytest.raises(UnreadableTrace, match="truncated: the gzip data ends early"):
        read_trace(path)


def test_damaged_gzip_is_refused(two_kernels: Draft, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(two_kernels.text().encode()))
    packed[-6] ^= 0xFF  # the checksum
    path = tmp_path / "trace.json.gz"
    path.write_bytes(packed)
    with pytest.raises(UnreadableTrace, match="broken gzip data after"):
        read_trace(path)


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": "), (" ,\n\n  ", " : ")])
def test_white_space_does_not_matter(two_kernels: Draft, read_text: ReadText, spacing: tuple[str, str]) -> None:
    trace = read_text(json.dumps({"traceEvents": two_kernels.events, "after": {"a": ["]}"]}}, separators=spacing))
    assert _kernels(trace) == 2


def test_surroundings_before_and_after_the_events_are_read(two_kernels: Draft, read_text: ReadText) -> None:
    text = json.dumps(
        {
            "metadata": {"text": 'traceEvents": [{}]', "nested": [[{"traceEvents": 1}]]},
            "traceEvents": two_kernels.events,
            "deviceProperties": [{"id": 0, "name": "Later GPU"}, {"id": 1, "name": "Other GPU"}],
            "baseTimeNanoseconds": 5,
        }
    )
    trace = read_text(text)
    assert [device.name for device in trace.devices] == ["Later GPU"]
    assert trace.epoch_ns == 5


def test_many_events_are_read_in_runs_with_brackets_quotes_and_escapes_in_their_texts(read_text: ReadText) -> None:
    events = [
        {"ph": "X", "cat": "kernel", "name": f'k{number} "}},{{[ \\', "ts": number, "dur": 1, "pid": 0, "tid": 7,
         "args": {"stream": 7, "device": 0, "correlation": number, "nested": [{"a": 1}, {"b": "},"}], "pad": "x" * 200}}
        for number in range(1, 20_001)
    ]  # fmt: skip
    trace = read_text(json.dumps({"traceEvents": events}))
    assert _kernels(trace) == trace.records == 20_000
    assert trace.slices.start_ns.tolist() == [number * 1000 for number in range(1, 20_001)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"C:\Users\me", "C:\\Users\\me"),
        (b"two\nlines\x01", "two\nlines\x01"),
        (b"caf\xe9", "caf�"),
        (rb"\u12", r"\u12"),
        (rb"\ud800 \udc00\ud83d\ude00", "\ufffd \ufffd\U0001f600"),
    ],
)
def test_texts_whose_meaning_is_clear_are_repaired(
    two_kernels: Draft, read_text: ReadText, written: bytes, meant: str
) -> None:
    trace = read_text(two_kernels.text().encode().replace(b"second", written))
    assert set(trace.names) == {"cudaLaunchKernel", "first", meant}
    assert _codes(trace) == ["repaired_text"]


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "-Infinity", "nan", "NaN"])
def test_bare_infinities_are_no_numbers(two_kernels: Draft, read_text: ReadText, word: str) -> None:
    draft = two_kernels
    draft.gpu("BARE", 1, 3)
    draft.add("kernel", "an inf, and a NaN", 400, 1, args={"stream": 7, "device": 0, "bandwidth": "BARE"})
    trace = read_text(draft.text().replace('"BARE"', word))
    assert _kernels(trace) == 3
    assert "an inf, and a NaN" in trace.names
    assert _codes(trace) == ["repaired_text", "invalid_records"]


def test_a_byte_order_mark_is_skipped(two_kernels: Draft, read_text: ReadText) -> None:
    assert _kernels(read_text(b"\xef\xbb\xbf" + two_kernels.text().encode())) == 2


def test_trailing_commas_are_read_over(two_kernels: Draft, read_text: ReadText) -> None:
    assert _kernels(read_text(two_kernels.text().replace("}}]}", "}},]}"))) == 2


def test_an_unescaped_quote_is_refused_with_the_event_and_its_place(two_kernels: Draft, read_text: ReadText) -> None:
    text = two_kernels.text().replace("second", 'sec"ond')
    with pytest.raises(UnreadableTrace, match=r"event 4, which begins at byte [\d,]+: ") as caught:
        read_text(text)
    place = int(str(caught.value).split("byte ")[1].split(":")[0].replace(",", ""))
    assert text[place:].startswith('{"ph": "X", "cat": "kernel", "name": "sec')


def test_text_after_the_trace_is_refused(two_kernels: Draft, read_text: ReadText) -> None:
    with pytest.raises(UnreadableTrace, match="text after the trace's end"):
        read_text(two_kernels.text() + two_kernels.text())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("{}", "the object has no list 'traceEvents'"),
        ('{"a": 1, "b": 2}', r"no list 'traceEvents' \(it has 'a', 'b'\)"),
        ('{"traceEvents": null}', "traceEvents is null, expected a list"),
        ('{"traceEvents": {"a": []}}', "traceEvents is .*, expected a list"),
        ('{"traceEvents": [] "a": 1}', r"expected ',' at byte 19, found '\"'"),
        ('{"traceEvents"', "expected ':' at byte 14, found the end of the file"),
        ("{", "truncated: the value that begins at byte 1 has no end"),
        ('{"a": "no end', "truncated: the value that begins at byte 6 has no end"),
    ],
)
def test_what_is_no_trace_is_refused_with_what_is_there(read_text: ReadText, text: str, message: str) -> None:
    with pytest.raises(UnreadableTrace, match=message):
        read_text(text)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"schema": "1.0.1", "pid": 1, "nodes": [{"id": 1}]}', "a PyTorch execution trace"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"name,duration\n", "not JSON .* or an SQLite export of Nsight Systems"),
        (b"\x08\x00\x01binary", "a binary file of an unknown kind"),
    ],
)  # fmt: skip
def test_other_formats_are_refused_by_name(read_text: ReadText, content: bytes, kind: str) -> None:
    with pytest.raises(UnsupportedFormat, match=kind):
        read_text(content)


def test_nesting_has_a_limit(read_text: ReadText) -> None:
    for inside in ("[" * 300, '{"a":' * 300, '[{"args":' + "[" * 5000):
        with pytest.raises(TraceTooLarge, match="nested deeper than 128 at byte"):
            read_text('{"traceEvents":' + inside)


def test_decompressed_size_has_a_limit(two_kernels: Draft, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(two_kernels.text() + " " * 5000)
    with pytest.raises(TraceTooLarge, match="larger than the limit of 4,000 bytes"):
        read_trace(path, limits=TraceLimits(max_bytes=4000))


def test_the_ratio_of_decompression_has_a_limit_once_much_was_read(two_kernels: Draft, tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(two_kernels.text().encode() + b" " * 3_000_000))
    assert _kernels(read_trace(path)) == 2
    with pytest.raises(TraceTooLarge, match="more than the limit of 200 to 1"):
        read_trace(path, limits=TraceLimits(ratio_after_bytes=1_000_000))


def test_a_file_that_cannot_be_opened_is_an_operating_system_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_trace(tmp_path / "absent.json")


def test_impossible_records_are_set_aside_and_counted(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(100, 5, 1)
    draft.gpu(100, 0, 2)  # a duration of zero alone is valid
    draft.gpu(0, 0, 3)
    draft.gpu(200, -1, 4)
    draft.gpu(200, 1e40, 5)
    draft.gpu("soon", 1, 6)
    draft.gpu(300, 1, 7)
    del draft.events[-1]["dur"]
    trace = read_draft(draft)
    assert trace.slices.duration_ns.tolist() == [5000, 0]
    assert [(finding.code, finding.count) for finding in trace.findings] == [("invalid_records", 5)]
    assert "kernel_sum_ns" in trace.findings[0].doubtful


def test_records_of_the_wrong_shape_are_left_out_and_counted(two_kernels: Draft, read_draft: ReadDraft) -> None:
    two_kernels.events += ["no event", 7, None, {"ph": "X", "cat": "kernel", "name": ["a"], "ts": 1, "dur": 1}]
    trace = read_draft(two_kernels)
    assert _kernels(trace) == 2
    assert trace.records == 8
    assert [(finding.code, finding.count) for finding in trace.findings] == [("malformed_records", 4)]
    assert set(trace.findings[0].doubtful) >= {
        *("kernels", "memcpy", "memset", "launches", "kernel_sum_ns", "kernel_busy_ns", "gpu_busy_ns", "gpu_span_ns"),
        *("idle", "devices.idle", "steps.kernels", "counts.kernels", "counts.memcpy", "traced_device_time"),
    }


def test_a_kernel_without_a_name_is_counted_under_a_placeholder(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(100, 5, 1)
    del draft.events[0]["name"]
    trace = read_draft(draft)
    assert trace.names == ("(no name)",)
    assert _codes(trace) == ["nameless_records"]


def test_a_file_with_everything_twice_counts_once(two_kernels: Draft, read_draft: ReadDraft) -> None:
    two_kernels.operator("aten::mul", 90, 30)
    two_kernels.events *= 2
    trace = read_draft(two_kernels)
    assert len(trace.slices) == 5
    assert [(finding.code, finding.count) for finding in trace.findings] == [("duplicate_records", 5)]


def test_equal_operators_of_one_microsecond_are_not_duplicates(two_kernels: Draft, read_draft: ReadDraft) -> None:
    two_kernels.operator("aten::to", 90, 1)
    two_kernels.operator("aten::to", 90, 1)
    two_kernels.operator("aten::mul", 95, 1)
    assert len(read_draft(two_kernels).slices.of(SliceKind.OPERATOR)) == 3


def test_the_order_of_the_file_does_not_matter(two_kernels: Draft, read_draft: ReadDraft) -> None:
    first = read_draft(two_kernels)
    two_kernels.events.reverse()
    second = read_draft(two_kernels)
    assert first.names == second.names
    assert first.slices.start_ns.tolist() == second.slices.start_ns.tolist()
    assert first.slices.name.tolist() == second.slices.name.tolist()


def test_processes_threads_and_streams_are_named(two_kernels: Draft, read_draft: ReadDraft) -> None:
    for kind, tid, name in (("process_name", 0, "python3"), ("thread_name", 1, "thread 1 (main)")):
        two_kernels.events.append({"ph": "M", "name": kind, "pid": 100, "tid": tid, "args": {"name": name}})
    assert {(track.process, track.row, track.device) for track in read_draft(two_kernels).tracks} == {
        ("python3 (100)", "thread 1 (main)", None),
        ("GPU 0", "stream 7", 0),
    }


def test_a_renumbered_device_has_the_name_that_all_share(draft: Draft, read_draft: ReadDraft) -> None:
    draft.gpu(100, 5, 1, device=2)
    assert [(device.index, device.name) for device in read_draft(draft).devices] == [(2, "Test GPU")]
    draft.surroundings["deviceProperties"] = [{"id": 0, "name": "A"}, {"id": 1, "name": "B"}]
    assert [(device.index, device.name) for device in read_draft(draft).devices] == [(2, None)]


def test_no_cut_of_a_file_does_anything_but_raise_a_trace_error(two_kernels: Draft, read_text: ReadText) -> None:
    text = two_kernels.text()
    for cut in range(len(text) - 1):
        with pytest.raises(TraceError):
            read_text(text[:cut])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_damage_to_a_recording_does_anything_but_raise_a_trace_error(
    recordings: Path, read_text: ReadText, data: st.DataObject
) -> None:
    text = bytearray(gzip.decompress((recordings / "cuda_naive.json.gz").read_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        inserted = data.draw(
            st.sampled_from([b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"null", b"1e400", b"\xff", b""])
        )
        text[place : place + data.draw(st.integers(0, 40))] = inserted
    try:
        trace = read_text(bytes(text))
    except TraceError:
        return
    assert 0 <= _kernels(trace) <= 15


@pytest.mark.parametrize(
    "value", [None, True, 2**70, -(2**63), 1e300, float("nan"), "", "x", "5", [], {}, [1], {"name": "a"}]
)
def test_fields_of_any_kind_are_survived(two_kernels: Draft, read_draft: ReadDraft, value: object) -> None:
    whole = list(two_kernels.events)
    for field in ("ph", "cat", "name", "ts", "dur", "pid", "tid", "args", "correlation", "device", "stream"):
        last = whole[-1]
        changed = last | {field: value} if field in last else last | {"args": last["args"] | {field: value}}
        two_kernels.events = [*whole[:-1], changed]
        assert _kernels(read_draft(two_kernels)) in (1, 2)
