"""What the web server does before the first visitor comes."""

from __future__ import annotations

import subprocess
import sys

STARTED = """
import asyncio, sys
from app.server import SLOW_TO_IMPORT, _life, app
assert SLOW_TO_IMPORT not in sys.modules, "it is imported with the server already"
async def start():
    async with _life(app):
        pass
asyncio.run(start())
assert SLOW_TO_IMPORT in sys.modules
"""


def test_a_started_server_has_imported_what_verdicts_need() -> None:
    """In a process of its own: here other tests may have imported it."""
    subprocess.run([sys.executable, "-c", STARTED], check=True, timeout=60)
