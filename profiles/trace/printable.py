"""Text from files as text on a screen: what would move, hide or colour other text is shown as its escape."""

from __future__ import annotations

import re

# Controls (a terminal obeys them), invisible and direction-changing characters, line separators, and half surrogates.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""With `\x1b`, `\u202e` and the like written out."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_json(text: str) -> str:
    """The same JSON, its strings' characters escaped as JSON does it."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
