"""`python -m tests.app.up_process PORT`: `fusescope up` by the environment's settings, with the stub web server."""

from __future__ import annotations

import sys

from app.up import up
from db.settings import read_settings

if __name__ == "__main__":
    sys.exit(up(read_settings(), "127.0.0.1", int(sys.argv[1]), web="tests.app.stub_web"))
