"""Broken JSON whose meaning is clear, made valid: what profilers have written by mistake over the years."""

from __future__ import annotations

import re

_STRING_OR_WORD = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\b(?:inf|infinity|nan)\b', re.DOTALL | re.IGNORECASE)
_IN_STRING = re.compile(
    rb"""\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"""
    rb"""|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(?P<stray>\\)|(?P<control>[\x00-\x1f])"""
)


def repair(text: bytes) -> bytes:
    """One event's text with raw control characters and wrong escapes escaped, bytes that are no UTF-8 and halves of
    surrogate pairs replaced by U+FFFD, and bare infinities and NaNs as null. Unescaped quotes have no clear meaning and
    stay."""
    clean = text.decode("utf-8", "replace").encode()
    return _STRING_OR_WORD.sub(_repair_token, clean)


def _repair_token(token: re.Match[bytes]) -> bytes:
    text = token[0]
    return _IN_STRING.sub(_escape, text) if text.startswith(b'"') else b"null"


def _escape(found: re.Match[bytes]) -> bytes:
    if found["half"]:
        return b"\\ufffd"
    if found["stray"]:
        return b"\\\\"
    return b"\\u%04x" % found["control"][0] if found["control"] else found[0]
