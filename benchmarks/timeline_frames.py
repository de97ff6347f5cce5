"""Frames of a zoomed timeline in headless Chromium, drawn by software: `python benchmarks/timeline_frames.py`.

Two runs of `--slices` each are drawn by the real canvas over the real encoder, on a page with nothing else. It zooms
in and out once a frame, and reports the time between frames (what a viewer sees) and within (what drawing takes), and
that between frames that draw nothing: what the machine itself does. `--unlimited` lifts the limit of 60 a second.
Above 200,000 slices the server merges: the first picture then is what it takes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time

import numpy as np
import uvicorn
from playwright.sync_api import Page, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.timeline.component import CANVAS, HTML, script
from app.timeline.encode import Window, encode
from app.timeline.shown import show
from profiles.results import Role
from profiles.trace.timeline import Timeline, TimelineTrack, TrackKind

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
UNLIMITED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")
THEME = "--st-background-color:#FFFFFF;--st-text-color:#171A1F;--st-border-color:#E2E5E9;--st-primary-color:#4451C4"
ROLES = (Role.GEMM, Role.POINTWISE, Role.NORM, Role.ATTENTION, Role.COPY, Role.OTHER)
PAGE = """<!doctype html><meta charset="utf-8"><style>{css}</style><body style="margin:32px;{theme}">{html}
<script type="module">
import draw from "./canvas.js";
window.begun = performance.now();
draw({{ parentElement: document.body, data: {data}, setStateValue() {{}} }});
const whole = () => document.querySelector("canvas").dataset.ready
  ? requestAnimationFrame(() => {{ window.drawn = performance.now() - window.begun; }}) : requestAnimationFrame(whole);
whole();
</script>"""
ZOOM = """([frames, draws]) => new Promise((done) => {
  const find = (root) => [...root.querySelectorAll("*")].map((e) =>
    e.classList.contains("timeline") ? e : e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const chart = find(document).chart, between = [], within = [];
  const [from, to] = chart.whole();
  let last = null, frame = 0;
  const step = (now) => {
    if (last !== null) between.push(now - last);
    last = now;
    if (frame++ === frames) return done({ between, within });
    const length = (to - from) * 10 ** (-3 * Math.abs(Math.sin(frame / 60)));
    const middle = from + (to - from) * (0.5 + 0.3 * Math.sin(frame / 97));
    const began = performance.now();
    Object.assign(chart.view, { from: middle - length / 2, to: middle + length / 2 });
    if (draws) chart.redraw(true);
    within.push(performance.now() - began);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slices", type=int, default=100_000, help="of each run")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--unlimited", action="store_true")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--port", type=int, default=8652)
    options = parser.parse_args()
    server = _serve(options.slices, options.port)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=[*FLAGS, *(UNLIMITED if options.unlimited else ())]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.goto(f"http://127.0.0.1:{options.port}/")
        page.wait_for_function("window.drawn", timeout=60_000)
        print(f"2 runs of {options.slices:,} slices, first picture {page.evaluate('window.drawn') / 1e3:.2f} s")
        zoom(page, options.frames)
        browser.close()
    server.should_exit = True


def zoom(page: Page, frames: int) -> None:
    """The one timeline of the page, and once more between frames that draw nothing; printed."""
    page.evaluate(ZOOM, [60, True])
    drawn, empty = (page.evaluate(ZOOM, [frames, draws]) for draws in (True, False))
    _tell("between frames", drawn["between"])
    _tell("within frames", drawn["within"])
    _tell("between frames that draw nothing", empty["between"])


def _tell(name: str, values: list[float]) -> None:
    ordered = sorted(values)
    middle, high = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    print(f"{name}: median {middle:.1f} ms, p99 {high:.1f} ms, longest {ordered[-1]:.1f} ms of {len(ordered)}")


def _serve(slices: int, port: int) -> uvicorn.Server:
    shown = [show(synthetic(slices, seed)) for seed in (1, 2)]

    def columns(request: Request) -> Response:
        asked = request.query_params
        window = Window(*(int(asked[name]) for name in ("from", "to", "width"))) if "width" in asked else None
        return Response(encode(shown[int(request.path_params["run"])], window))

    def page(_request: Request) -> Response:
        css = (CANVAS / "timeline.css").read_text(encoding="utf-8")
        return HTMLResponse(PAGE.format(css=css, theme=THEME, html=HTML, data=json.dumps(_data())))

    def canvas(_request: Request) -> Response:
        return PlainTextResponse(script(), media_type="text/javascript")

    routes = [Route("/", page), Route("/canvas.js", canvas), Route("/run/{run}", columns)]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=port, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server


def _data() -> dict[str, object]:
    lane = {"baseline": False, "summary": "synthetic", "note": "", "stages": 1}
    lanes = [{**lane, "key": "AB"[run], "label": f"run {run}", "url": f"run/{run}"} for run in (0, 1)]
    return {"lanes": lanes, "view": None, "label": "Timelines"}


def synthetic(slices: int, seed: int) -> Timeline:
    """Half launches, half kernels of 1 to 40 µs with small gaps, on one stream; names of all kinds of roles."""
    random, many = np.random.default_rng(seed), slices // 2
    duration = random.integers(1_000, 40_000, many)
    start = np.cumsum(duration + random.integers(0, 3_000, many)) - duration + 20_000
    starts = np.concatenate([start - random.integers(5_000, 20_000, many), start])
    order = np.argsort(starts, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    names = ("cudaLaunchKernel", *(f"kernel_{i}<float, {i}>" for i in range(60)))
    launch = np.concatenate([np.full(many, -1), place[:many]])
    return Timeline(
        tracks=(_track("python · thread 1", TrackKind.LAUNCHES), _track("GPU 0 · stream 7", TrackKind.STREAM, 0)),
        names=names,
        short_names=names,
        roles=(Role.OTHER, *(ROLES[i % len(ROLES)] for i in range(60))),
        stage_sets=((),),
        steps=(),
        track=np.repeat([0, 1], many)[order].astype(np.uint16),
        name=np.concatenate([np.zeros(many), random.integers(1, 61, many)])[order].astype(np.uint32),
        start_ns=starts[order],
        duration_ns=np.concatenate([np.full(many, 2_500), duration])[order].astype(np.int64),
        launch=launch[order].astype(np.int32),
        stages=np.zeros(2 * many, np.uint32),
        cause=np.zeros(2 * many, np.uint32),
    )


def _track(name: str, kind: TrackKind, device: int | None = None) -> TimelineTrack:
    return TimelineTrack(name=name, kind=kind, device=device)


if __name__ == "__main__":
    main()
