"""How fast and in how much memory large traces are read: `python benchmarks/traces.py [--peer]`.

Beside Holistic Trace Analysis in the same run, turn by turn, each reading in a fresh process whose imports are not
timed; and whole processes from the file to the stored summary and timeline. `--peer` installs the peer by pip into an
environment of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
TRACES = Path(os.environ.get("FUSESCOPE_TRACES") or PROJECT.parent / "shared" / "traces")
LARGE = ("07_v100_large_53MB_json.json.gz", "24_mi300x_flux_big_63MB_hipgraph.json.gz")
REPEATED, TIMES = LARGE[1], 8
PEER = ("HolisticTraceAnalysis==0.5.0", "pandas<3")  # with pandas 3 it ends in a TypeError on file 24
OURS = {**os.environ, "PYTHONPATH": str(PROJECT)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path, default=TRACES, help="the folder of the public traces")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "fusescope-benchmarks")
    parser.add_argument("--peer", action="store_true", help="install and run Holistic Trace Analysis too")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, help="write the figures here as JSON")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    load_before = os.getloadavg()[0]
    peer = _peer(options.cache) if options.peer else None
    figures: dict[str, Any] = {
        "machine": {"cpus": os.cpu_count(), "platform": platform.platform(), "load_before": load_before},
        "commit": _printed(["git", "-C", str(PROJECT), "rev-parse", "HEAD"]),
        "reading": {name: _readings(options.traces / name, peer, options.repeats) for name in LARGE},
        "whole": {path.name: _wholes(path, options.repeats) for path in _files(options.traces, options.cache)},
    }
    print("\n".join([*_reading_rows(figures["reading"]), "", *_whole_rows(figures["whole"])]))
    print(json.dumps(figures))
    if options.output:
        options.output.write_text(json.dumps(figures, indent=1))


def _peer(cache: Path) -> Path:
    """The interpreter of the peer's environment, made where it is not there yet."""
    home = cache / "hta-0.5.0"
    python = home / "bin" / "python"
    if not (home / "complete").exists():
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
        (home / "complete").touch()
    return python


def _files(traces: Path, cache: Path) -> list[Path]:
    """The large traces, and one of about 500 MB that is made from the last; by a process of its own, because the peak
    memory of a parent counts as its child's."""
    repeated = cache / f"{TIMES}x_{REPEATED}"
    if not repeated.exists():
        unfinished = repeated.with_suffix(".part")
        script = str(PROJECT / "benchmarks" / "repeated_trace.py")
        _printed([sys.executable, script, str(traces / REPEATED), str(unfinished), str(TIMES)])
        unfinished.rename(repeated)
    return [*(traces / name for name in LARGE), repeated]


def _readings(path: Path, peer: Path | None, repeats: int) -> dict[str, list[dict[str, Any]]]:
    readers = {"fusescope": sys.executable} | ({"hta": str(peer)} if peer else {})
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in readers}
    for _ in range(repeats):
        for name, python in readers.items():
            command = [python, str(PROJECT / "benchmarks" / "read_trace_once.py"), name, str(path)]
            found[name].append(json.loads(_printed(command).splitlines()[-1]))
    return found


def _wholes(path: Path, repeats: int) -> list[dict[str, float]]:
    return [_whole(path) for _ in range(repeats)]


def _whole(path: Path) -> dict[str, float]:
    """A process from its start to its end: the file to a summary and a timeline on disk."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "profiles.trace", str(path), "--output", directory]
        begun = time.perf_counter()
        process = subprocess.Popen(command, env=OURS)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return {"wall_s": wall_s, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_rss_bytes": usage.ru_maxrss << 10}


def _reading_rows(reading: dict[str, dict[str, list[dict[str, Any]]]]) -> list[str]:
    rows = [f"{'reading, in process':<44} {'reader':<10} {'median':>8} {'range':>15} {'CPU':>8} {'peak':>8}"]
    for path, readers in reading.items():
        rows += [f"{path:<44} {name:<10} {_columns(runs)}" for name, runs in readers.items()]
        if "hta" in readers:
            ratio = _median(readers["hta"], "wall_s") / _median(readers["fusescope"], "wall_s")
            rows.append(f"{'':<44} {'ratio':<10} {ratio:>7.1f}×")
    return rows


def _whole_rows(whole: dict[str, list[dict[str, float]]]) -> list[str]:
    head = f"{'file → summary and timeline, whole process':<55} {'median':>8} {'range':>15} {'CPU':>8} {'peak':>8}"
    return [head, *(f"{path:<55} {_columns(runs)}" for path, runs in whole.items())]


def _columns(runs: list[dict[str, Any]]) -> str:
    walls = sorted(run["wall_s"] for run in runs)
    spread = f"{walls[0]:.2f}–{walls[-1]:.2f} s"
    peak_mb = max(run["peak_rss_bytes"] for run in runs) / 1e6
    return f"{_median(runs, 'wall_s'):>6.2f} s {spread:>15} {_median(runs, 'cpu_s'):>6.2f} s {peak_mb:>5.0f} MB"


def _median(runs: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(run[key] for run in runs))


def _printed(command: list[str]) -> str:
    return subprocess.run(command, env=OURS, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    main()
