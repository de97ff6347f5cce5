"""Bytes of real traces, damaged at random: everything follows from the seed."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from profiles.trace.source import SQLITE

LONGEST = 200_000  # bytes of a source that are kept: many small inputs find more than few large ones
_NUMBER = re.compile(rb'(?<=":)\s*-?\d+(?:\.\d+)?')  # values: a damaged key or list is found out at once
_STRING = re.compile(rb'(?<=":)\s*"[^"\\]{0,80}"')
NUMBERS = (
    b"0", b"-0", b"-1", b"1e400", b"-1e400", b"1e-400", b"1E+3", b"0.0005", b"NaN", b"-Infinity", b"inf", b"null",
    b"true", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808",
    b"9223372036854775.807", b"1e15", b"4611686018427387", b"4611686018427",
    b"18446744073709551616", b"-4611686018427388", b"1" * 5000, b"0." + b"1" * 5000, b'"12"', b'"-5"',
    b"[]", b"{}", b"2147483648", b"1e18",
)  # fmt: skip
STRINGS = (
    b'""', b'"kernel"', b'"Kernel"', b'"cuda_runtime"', b'"cuda_driver"', b'"cpu_op"', b'"user_annotation"', b'"X"',
    b'"M"', b'"B"', b'"ProfilerStep#1"', b'"fusescope.forward#0"', b'"fusescope.stage:+"', b'"cudaGraphLaunch"',
    b'"cudaStreamBeginCapture"', b'"cudaStreamEndCapture"', b'"</script><script>alert(1)</script>"',
    b'"=HYPERLINK(1)"', b'"\\u0000\\ud800"', b'"\\udc00\\ud800"', b'"\xff\xfe"', b'"\x00\x01"',
    b'"' + b"<(" * 3000 + b'"', b'"\\x"', b'"_ZN' + b"9" * 400 + b'a"', b'"' + b"A" * 70_000 + b'"',
    b'"' + "\u202e\U0001f600é".encode() + b'"', b"null", b"7", b"[]", b"{}",
    b'"void at::native::vectorized_elementwise_kernel<' + b"a<" * 500 + b'"',
)  # fmt: skip
TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"},{", b"]}", b"[" * 200, b'{"a":' * 1500, b"\0", b"\xef\xbb\xbf",
    b"1.2.3", b"0x10", b'"a\\',
)  # fmt: skip

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def sources(folders: Sequence[Path]) -> list[bytes]:
    """The text of each trace in the folders, the first part of the long ones, and databases that are small; in order of
    name."""
    files = sorted(file for folder in folders if folder.is_dir() for file in folder.rglob("*"))
    texts = [_text(file) for file in files if ".json" in file.suffixes and file.name != "truth.json"]
    small = [file for file in files if file.suffix == ".sqlite" and file.stat().st_size <= 2 * LONGEST]
    return [content for content in (*texts, *(file.read_bytes() for file in small)) if len(content) > 2]


def mutated(seed: int, texts: Sequence[bytes]) -> bytes:
    """One of the texts after one to six mutations; sometimes packed, and then sometimes damaged again."""
    chance = random.Random(seed)
    text = chance.choice(texts)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        text = chance.choice(_OF_DATABASES if text.startswith(SQLITE) else _MUTATIONS)(chance, text, texts)
    if chance.random() < 0.2:
        text = gzip.compress(text, compresslevel=1, mtime=0)
        if chance.random() < 0.5:
            text = chance.choice((_flip, _cut, _delete, _duplicate))(chance, text, texts)
    return text


def _text(file: Path) -> bytes:
    """Long ones end after a whole event, with the brackets that are open there."""
    with gzip.open(file) if file.read_bytes()[:2] == b"\x1f\x8b" else file.open("rb") as opened:
        try:
            text = opened.read(LONGEST)
        except EOFError:
            return b""
    if len(text) < LONGEST:
        return text
    return text[: text.rfind(b"},") + 1] + (b"]" if text.lstrip().startswith(b"[") else b"]}")


def _flip(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    changed = bytearray(text)
    for _bit in range(chance.randint(1, 8) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    return text[: chance.randint(0, len(text))]


def _overwrite(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    """A page's head, or up to a page somewhere, by bytes from elsewhere: what follows stays where it is."""
    at = chance.choice((chance.randrange(max(1, len(text) // 4096)) * 4096, chance.randint(0, len(text))))
    start, length = chance.randint(0, len(text)), chance.choice((1, 8, 100, 4096))
    return text[:at] + text[start : start + length] + text[at + length :]


def _delete(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _chunk(chance, text)
    return text[:start] + text[end:]


def _duplicate(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _chunk(chance, text)
    return text[:end] + text[start:end] * chance.randint(1, 3) + text[end:]


def _splice(chance: random.Random, text: bytes, others: Sequence[bytes]) -> bytes:
    other = chance.choice(others)
    start, end = _chunk(chance, other)
    at = _after_event(text, chance.randint(0, len(text)))
    return text[:at] + other[start:end] + text[at:]


def _insert(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(TOKENS) + text[at:]


def _numbers(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    return _replaced(chance, text, _NUMBER, NUMBERS)


def _strings(chance: random.Random, text: bytes, _: Sequence[bytes]) -> bytes:
    return _replaced(chance, text, _STRING, STRINGS)


def _replaced(chance: random.Random, text: bytes, pattern: re.Pattern[bytes], hostile: Sequence[bytes]) -> bytes:
    """One to forty places from a random one on, by different values or all by the same."""
    start = chance.randint(0, len(text))
    most = chance.choice((1, 1, 3, 40))
    values = hostile if chance.random() < 0.5 else (chance.choice(hostile),)
    return text[:start] + pattern.sub(lambda _: chance.choice(values), text[start:], count=most)


def _chunk(chance: random.Random, text: bytes) -> tuple[int, int]:
    """Where it begins and ends; more often than not both lie between events."""
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.choice((1, 10, 300, 5_000)))
    if chance.random() < 0.7:
        return _after_event(text, start), _after_event(text, end)
    return start, end


def _after_event(text: bytes, at: int) -> int:
    found = text.find(b"},", at)
    return found + 2 if found >= 0 else len(text)


_MUTATIONS: tuple[Mutation, ...] = (
    _flip, _cut, _delete, _duplicate, _splice, _insert, *[_numbers] * 6, *[_strings] * 6,
)  # fmt: skip
_OF_DATABASES: tuple[Mutation, ...] = (_flip, _flip, _flip, _overwrite, _overwrite, _overwrite, _cut)
