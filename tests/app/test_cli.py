from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from app.commands import COMMANDS

HEAVY = ("torch", "transformers", "sqlalchemy", "alembic", "celery", "redis", "pyarrow", "streamlit", "plotly")


def loaded_by(*arguments: str) -> set[str]:
    """The heavy packages that a process has loaded when the command has ended."""
    program = (
        "import sys\n"
        "from app.cli import main\n"
        "main(sys.argv[1:])\n"
        f"sys.stderr.write(' '.join(name for name in {HEAVY!r} if name in sys.modules))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_loads_and_offers_json(command: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = command.name  # type: ignore[attr-defined]
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_the_help_lists_every_command_in_the_tables_order(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    names = {command.name for command in COMMANDS}
    assert [line[0] for line in lines if line[0] in names] == [command.name for command in COMMANDS]


@pytest.mark.parametrize("arguments", [[], ["measure"], ["catalog", "--verbose"], ["trace"]])
def test_wrong_use_exits_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_a_missing_file_is_named_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = output(capsys, "trace", str(tmp_path / "nowhere.json"))
    assert (code, out) == (2, "")
    assert err == f"fusescope: No such file or directory: {tmp_path / 'nowhere.json'}\n"


def test_a_file_that_is_no_trace_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "note.json"
    file.write_text('{"hello": "world"}')
    code, out, err = output(capsys, "trace", str(file))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err


def test_the_catalogue_says_what_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = output(capsys, "catalog", "--json")
    catalogue = json.loads(out)
    assert code == 0
    operations = {operation["name"]: operation for operation in catalogue["operations"]}
    assert operations.keys() == {"attention", "swiglu", "residual_rms_norm", "decoder_prefill"}
    attention = operations["attention"]
    assert attention["stages"] == ["scores", "scale", "mask", "softmax", "values"]
    assert list(attention["axes"]) == ["batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal"]
    assert {"name", "executions", "available", "reason"} <= attention["implementations"][0].keys()
    assert [preset["name"] for preset in catalogue["presets"]] == [
        "attention-ladder",
        "fusion-pairs",
        "decoder-end-to-end",
        "shape-churn",
    ]


def test_what_cannot_run_here_has_a_reason_and_what_can_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = output(capsys, "catalog", "--json")
    for operation in json.loads(out)["operations"]:
        for implementation in operation["implementations"]:
            assert implementation["available"] is (implementation["reason"] is None), implementation


def test_the_catalogue_for_people_names_every_implementation(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = output(capsys, "catalog")
    assert code == 0
    assert {"naive_inplace", "sdpa_cudnn", "functional", "attention-ladder"} <= set(out.split())


def test_the_catalogue_loads_nothing_heavy() -> None:
    assert loaded_by("catalog", "--json") == set()


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m app.cli catalog | head -n 1"
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "attention\n"
