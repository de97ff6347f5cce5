"""`fusescope reproduce`: one run of a bundle as a script, to standard output, to a file, or in JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.cli import main
from profiles.reports import Reproduced
from tests.app.test_cli import loaded_by

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
LADDER = str(SAMPLES / "attention-ladder.fusescope")
PAIRS = str(SAMPLES / "fusion-pairs.fusescope")


def test_a_run_of_a_bundle_becomes_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "naive.py"
    assert main(["reproduce", LADDER, "--variant", "attention/naive", "--output", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert "GPU time           1,058.4 µs (p25-p75 1,057.4–1,059.5)" in text
    asked = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, check=True).stdout
    assert "--device" in asked
    assert main(["reproduce", LADDER, "--variant", "A"]) == 0
    assert capsys.readouterr().out == text


def test_json_says_which_run_it_is_and_has_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", PAIRS, "--variant", "residual_rms_norm/unfused@compile", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["variant"], told["key"]) == (PAIRS, "residual_rms_norm/unfused@compile", "D")
    assert told["workload"]["axes"] == {"rows": 8192, "width": 2048}
    assert told["filename"] == "residual_rms_norm_unfused_compile_8192x2048_bf16.py"
    assert "torch.compile(unfused, dynamic=False)" in told["script"]
    assert set(told) == set(Reproduced.__struct_fields__)
    assert msgspec.convert(told, Reproduced).output is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((LADDER, "--variant", "nothing"), "there is no variant 'nothing'; there are A attention/naive"),
        ((PAIRS, "--variant", "unfused"), "several workloads"),
        ((PAIRS, "--variant", "unfused", "--workload", "9"), "accepted are 1 to 2"),
        ((str(SAMPLES / "none.fusescope"), "--variant", "naive"), "none.fusescope"),
    ],
)
def test_wrong_use_is_one_line(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert said in captured.err


def test_making_a_script_loads_nothing_heavy() -> None:
    assert loaded_by("reproduce", LADDER, "--variant", "sdpa_flash") == set()


def test_an_installed_copy_finds_its_own_source(tmp_path: Path) -> None:
    """As from a wheel: the packages alone, elsewhere, without the repository around them."""
    site = tmp_path / "site"
    for package in ("app", "profiles"):
        shutil.copytree(ROOT / package, site / package, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "from app.cli import main; import profiles\n"
        f"assert profiles.__path__[0].startswith({str(site)!r})\n"
        f"sys.exit(main(['reproduce', {LADDER!r}, '--variant', 'sdpa_flash']))"
    )
    command = [sys.executable, "-I", "-X", "utf8", "-c", program]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert "def sdpa_flash" in told.stdout
