"""What torch says about compiling, in few words: reasons without stacks, places without this machine's folders."""

from __future__ import annotations

import re
from pathlib import Path

LONGEST_REASON = 400
SKIPPED = re.compile(r"^(?:skipping|disabling) cudagraphs? (?:due to|for) ", re.IGNORECASE)
# What torch calls some breaks, in words.
_NAMED = (("generic_jump", "data-dependent branch: which way it goes is known only when the tensor is"),)


def skip_reason(message: str) -> str:
    """`mutated inputs (1 instances), at model.py:12` of a log line that goes on with a stack."""
    reason, _, stack = SKIPPED.sub("", message.strip()).partition("Found from")
    places = re.findall(r'File "([^"]+)", line (\d+)', stack)
    words = shortened(reason.splitlines()[0].rstrip(" .:")) if reason.strip() else "torch gives no reason"
    return f"{words}, at {place(places[-1][0], int(places[-1][1]))}" if places else words


def break_reason(text: str) -> str:
    """The title and the explanation of torch's long text, on one line."""
    named = next((words for code, words in _NAMED if text.startswith(code)), None)
    if named is not None:
        return named
    title, _, rest = text.strip().partition("\n")
    explanation = re.search(r"Explanation: (.*)", rest)
    return shortened(f"{title.strip()}: {explanation[1].strip()}" if explanation else title.strip())


def place(file: str, line: int) -> str:
    """`profiles/operations/swiglu.py:63`: from the package on, without where this machine keeps it."""
    path = Path(file)
    roots = [*(p for p in path.parents if p.name in {"site-packages", "dist-packages"}), Path(__file__).parents[2]]
    root = next((root for root in roots if path.is_relative_to(root)), None)
    return f"{path.relative_to(root) if root is not None else path.name}:{line}"


def shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_REASON else words[: LONGEST_REASON - 1] + "…"
