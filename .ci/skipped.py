"""Fails where a test skipped that this machine should have run: only the tests that need a GPU may."""

import sys
from pathlib import Path
from xml.etree import ElementTree

ALLOWED = "GPU"


def main(reports: list[str]) -> int:
    """Of pytest's reports in JUnit's XML, one of each pass; one that is not there is a pass that never ended."""
    missing = [f"no report at {report}: its tests did not end" for report in reports if not Path(report).exists()]
    unexpected = [line for report in reports if Path(report).exists() for line in _skips(report)]
    for line in missing + unexpected:
        print(line, file=sys.stderr)
    return 1 if missing or unexpected else 0


def _skips(report: str) -> list[str]:
    return [
        f"skipped, but must run here: {case.get('classname')}::{case.get('name')}: {skip.get('message')}"
        for case in ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest has just written it
        for skip in case.iter("skipped")
        if ALLOWED not in (skip.get("message") or "")
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
