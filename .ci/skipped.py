"""Fails where a test skipped that this machine should have run: only the tests that need a GPU may."""

import sys
from xml.etree import ElementTree

ALLOWED = "GPU"


def main(report: str) -> int:
    unexpected = [
        f"{case.get('classname')}::{case.get('name')}: {skip.get('message')}"
        for case in ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest has just written it
        for skip in case.iter("skipped")
        if ALLOWED not in (skip.get("message") or "")
    ]
    for line in unexpected:
        print(f"skipped, but must run here: {line}", file=sys.stderr)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
