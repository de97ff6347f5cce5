"""Python frames of a Kineto trace: nn.Modules and lines of the user's code; not torch's own frames, nor Python's.

They come as records of their own, as the marks of an uncaptured pass, or (until 2021) as a text with each operator.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

import numpy as np

from profiles.trace.decimals import nanoseconds
from profiles.trace.kineto_document import Event
from profiles.trace.model import Bools, FrameKind, FrameLabel, Frames, Int64s

_IGNORED = -1
_MODULE, _PATH_MARK, _SOURCE_MARK = "nn.Module: ", "fusescope.module:", "fusescope.source:"
_MARKS = (_PATH_MARK, _SOURCE_MARK)
_LINE = re.compile(r"(?P<file>[^<].*|<ipython-input.*>)\(\d+\): .", re.DOTALL)
_NOT_USERS = re.compile(
    r"(?:.*[/\\])?(?:torch|functorch|triton)[/\\]"  # torch's packages, wherever they were installed
    r"|.*torchinductor_"  # what its compiler generated
    r"|.*[/\\]lib[/\\]python3\.\d+[/\\](?!(?:site|dist)-packages[/\\])",  # Python's library where it has its whole path
    re.DOTALL,
)
_FIRST_PART = re.compile(r"[^/\\.]+")
_LONGEST = 400  # characters of a label
_LONGEST_NS = 2**53
_AT_ONCE = 1 << 16
_BELOW_1_US = b"0."


class LabelNumbers(dict[str | None, int]):
    """A record's name to the place of its label, negative for what is nobody's cause: each text is looked at once."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: list[FrameLabel] = []

    def __missing__(self, name: str | None) -> int:
        label = _label(name or "")
        number = _IGNORED
        if label is not None:
            number = len(self.labels)
            self.labels.append(label)
        self[name] = number
        return number


class FrameColumns:
    """Grows by runs of records; `finish` gives the frames in order, without those that have no valid time."""

    def __init__(self) -> None:
        self.numbers = LabelNumbers()
        self._stacks: dict[tuple[object, object], tuple[int, ...]] = {}
        self._waiting: list[tuple[int, int, bytes, bytes]] = []
        self._runs: list[tuple[Int64s, ...]] = []
        self._valid: list[Bools] = []

    @staticmethod
    def is_mark(name: str | None) -> bool:
        return name is not None and name.startswith(_MARKS)

    def add(self, found: Sequence[tuple[Event, int]], track: Callable[[Event], int]) -> None:
        """Records with the places of their labels. Of most Python calls there is nothing to keep: no call that launches
        takes less than a microsecond."""
        self._add([(event, label) for event, label in found if not bytes(event.dur).startswith(_BELOW_1_US)], track)

    def add_stacks(self, operators: Sequence[Event], track: Callable[[Event], int]) -> None:
        """The stack of calls and the modules that these operators tell are frames that last as long as they do."""
        self._add([(event, label) for event in operators for label in self._stacked(event)], track)

    def finish(self) -> Frames:
        self._convert()
        empty = (np.zeros(0, np.int64),) * 4
        track, start, duration, label = (np.concatenate(runs) for runs in zip(empty, *self._runs, strict=True))
        valid = np.concatenate([np.zeros(0, np.bool_), *self._valid])
        valid &= (duration >= 0) & (duration < _LONGEST_NS) & (np.abs(start) < 2**62)
        rows = np.flatnonzero(valid)
        rows = rows[np.lexsort((-duration[rows], start[rows]))]
        return Frames(tuple(self.numbers.labels), track[rows], start[rows], start[rows] + duration[rows], label[rows])

    def _add(self, found: Sequence[tuple[Event, int]], track: Callable[[Event], int]) -> None:
        for event, label in found:
            self._waiting.append((track(event), label, bytes(event.ts), bytes(event.dur)))
        if len(self._waiting) >= _AT_ONCE:
            self._convert()

    def _convert(self) -> None:
        """Many at once: texts are read column by column."""
        if not self._waiting:
            return
        tracks, labels, starts, durations = zip(*self._waiting, strict=True)
        self._waiting = []
        start, start_ok = nanoseconds(starts)
        duration, duration_ok = nanoseconds(durations)
        self._runs.append((np.array(tracks, np.int64), start, duration, np.array(labels, np.int64)))
        self._valid.append(start_ok & duration_ok)

    def _stacked(self, event: Event) -> tuple[int, ...]:
        assert event.args is not None
        key = (event.args.call_stack, event.args.modules)
        if key not in self._stacks:
            names = (_innermost(str(key[0] or "")), _PATH_MARK + str(key[1]) if key[1] else None)
            self._stacks[key] = tuple(number for name in names if (number := self.numbers[name]) != _IGNORED)
        return self._stacks[key]


def _innermost(stack: str) -> str | None:
    """The user's line of `inner.py(3): f;outer.py(54): <module>`."""
    return next((line for line in stack.split(";") if _is_users(line)), None)


def _label(name: str) -> FrameLabel | None:
    if name.startswith(_MODULE):
        return FrameLabel(FrameKind.MODULE, name.removeprefix(_MODULE)[:_LONGEST])
    if name.startswith(_PATH_MARK):
        return FrameLabel(FrameKind.PATH, name.removeprefix(_PATH_MARK)[:_LONGEST])
    if name.startswith(_SOURCE_MARK):
        return FrameLabel(FrameKind.SOURCE, name.removeprefix(_SOURCE_MARK)[:_LONGEST])
    return FrameLabel(FrameKind.SOURCE, name[:_LONGEST]) if _is_users(name) else None


def _is_users(line: str) -> bool:
    """`path/file.py(123): function` that is neither torch's nor Triton's, compiled by them, nor of Python's library.

    Torch cuts the folders of `sys.path` off: what is installed, a library or one's own, begins with its package.
    """
    found = _LINE.match(line)
    if found is None or _NOT_USERS.match(found["file"]):
        return False
    first = _FIRST_PART.match(found["file"])
    return first is None or first[0] not in sys.stdlib_module_names
