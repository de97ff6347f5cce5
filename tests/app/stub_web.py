"""Serves one line where a test of `up` is about processes: `python -m tests.app.stub_web --host HOST --port PORT`."""

from __future__ import annotations

import argparse
from http.server import BaseHTTPRequestHandler, HTTPServer


class OneLine(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    options = parser.parse_args()
    HTTPServer((options.host, options.port), OneLine).serve_forever()
