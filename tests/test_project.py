"""The project's own files: what the documents promise is there, and nothing in them leads outside."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.commands import COMMANDS
from profiles.catalog import OPERATIONS, check_variant, operation
from profiles.presets import PRESETS

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
REGISTRIES = re.compile(
    r"\b(?:pypi\.org|pythonhosted|test\.pypi|npmjs|registry\.|docker\.io|ghcr\.io|quay\.io|nvcr\.io|download\.pytorch)"
)
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|home|root|opt|Users)/\w+")
OWN_TEXT = re.compile(r"\.(?:py|md|toml|ya?ml|js|css|json|sh|html|mako)$|(?:^|/)(?:Makefile|Dockerfile|run)$")


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this copy of the project has no git history to list its files by")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def own_texts() -> dict[str, str]:
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for path in tracked_files()
        if OWN_TEXT.search(str(path)) and path != Path(__file__)
    }


def found_in_texts(pattern: re.Pattern[str]) -> list[str]:
    return [f"{name}: {hit.group()}" for name, text in own_texts().items() for hit in pattern.finditer(text)]


def test_no_file_names_a_package_registrys_host() -> None:
    assert found_in_texts(REGISTRIES) == []


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert found_in_texts(MACHINE_PATHS) == []


def test_only_tests_and_the_ci_script_know_the_shared_recordings() -> None:
    users = {name for name, text in own_texts().items() if "../shared" in text}
    assert {name for name in users if not name.startswith(("tests/", ".ci/"))} == set()


def test_the_license_is_the_one_that_the_package_declares() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "LICENSE").read_text()
    assert declared["license"] == "Apache-2.0"
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_torch_is_no_dependency_of_the_package_in_any_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    assert [requirement for requirement in wanted if re.match(r"torch\b|nvidia-cu", requirement)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_a_document_exists(document: Path) -> None:
    commands = {command.name for command in COMMANDS}
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", document.read_text(), re.DOTALL))
    assert set(re.findall(r"\bfusescope ([a-z]+)\b", code)) <= commands
    assert set(re.findall(r"(?:^|`|\$ )make ([a-z]+)\b", code, re.MULTILINE)) <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_document_links_to_exists(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_measurement_that_a_document_shows_can_be_asked_for(document: Path) -> None:
    presets = {preset.name for preset in PRESETS}
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", document.read_text(), re.DOTALL))
    named = set(re.findall(r"\bfusescope (?:run|submit) ([a-z][a-z-]*)", code))
    assert named <= presets


def test_every_preset_names_workloads_and_variants_of_the_catalogue() -> None:
    for preset in PRESETS:
        for workloads in preset.workloads.values():
            for workload in workloads:
                check_variant(operation(workload.operation), operation(workload.operation).baseline)


def test_every_baseline_is_an_implementation_of_its_operation() -> None:
    assert [o.name for o in OPERATIONS if o.baseline not in {i.name for i in o.implementations}] == []


def compose() -> dict[str, Any]:
    document = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert isinstance(document, dict)
    return document


def stages() -> dict[str, str]:
    """The Dockerfile's stages by name, with their instructions and those of the stages that they build on."""
    found: dict[str, str] = {}
    for block in re.split(r"^(?=FROM )", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)[1:]:
        head = re.match(r"FROM (\S+) AS (\S+)", block)
        assert head is not None
        found[head[2]] = found.get(head[1], "") + block
    return found


def test_compose_has_a_database_a_queue_a_migration_pages_and_workers() -> None:
    services = compose()["services"]
    assert services.keys() == {"postgres", "redis", "migrate", "web", "worker-traces", "worker-cpu", "worker-gpu"}
    assert services["worker-gpu"]["profiles"] == ["gpu"]
    for name in ("web", "worker-traces", "worker-cpu", "worker-gpu"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


def test_compose_builds_only_stages_that_the_dockerfile_has() -> None:
    targets = {service["build"]["target"] for service in compose()["services"].values() if "build" in service}
    assert targets <= stages().keys()


def test_the_image_of_the_pages_holds_no_torch_and_the_workers_do() -> None:
    assert "torch" not in stages()["web"].replace("no torch", "")
    assert "torch --torch-backend cpu" in stages()["worker"]
    assert "torch" in stages()["worker-gpu"]


def test_the_dockerfile_copies_only_what_the_project_has() -> None:
    sources = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    names = [name for source in sources for name in source.split()]
    assert [name for name in names if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("service", ["migrate", "web", "worker-traces", "worker-cpu", "worker-gpu"])
def test_every_service_of_ours_starts_something_that_exists(service: str) -> None:
    described = compose()["services"][service]
    words = described.get("command") or command_of(described["build"]["target"])
    if words[0] == "fusescope":
        assert words[1] in {command.name for command in COMMANDS}
    else:
        assert words[:2] == ["python", "-m"]
        place = ROOT.joinpath(*words[2].split("."))
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


def command_of(stage: str) -> list[str]:
    found = re.findall(r"^CMD (\[.+\])$", stages()[stage], re.MULTILINE)
    words = yaml.safe_load(found[-1])
    assert isinstance(words, list)
    return words


def test_the_settings_that_compose_makes_are_accepted() -> None:
    from db.settings import read_settings

    shown = compose()["x-environment"]
    written = {name: value for name, value in shown.items() if value is not None}  # the others are set outside, or not
    environ = {name: re.sub(r"\$\{\w+:-(\w+)\}", r"\1", value) for name, value in written.items()}
    settings = read_settings(environ)
    assert settings.database_url == "postgresql://fusescope:fusescope@postgres:5432/fusescope"
    assert settings.redis_url == "redis://redis:6379/0"


def test_make_offers_the_targets_that_the_documents_name() -> None:
    assert set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)) == {
        "install",
        "up",
        "test",
        "check",
        "fuzz",
    }


def test_the_ci_script_is_executable_and_valid() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


def report(folder: Path, name: str, *messages: str) -> Path:
    """Of a pass with one test that ran, and one that skipped for each message."""
    skips = "".join(f'<testcase classname="t" name="n"><skipped message="{text}"/></testcase>' for text in messages)
    (path := folder / name).write_text(f'<testsuites><testcase classname="t" name="ran"/>{skips}</testsuites>')
    return path


def unexpected_skips(*reports: Path) -> subprocess.CompletedProcess[str]:
    script = ROOT / ".ci" / "skipped.py"
    return subprocess.run([sys.executable, script, *reports], capture_output=True, text=True, check=False)


def test_the_ci_script_lets_tests_skip_for_want_of_a_gpu_alone(tmp_path: Path) -> None:
    fine = report(tmp_path, "fine.xml", "needs an NVIDIA GPU")
    assert unexpected_skips(fine, fine).returncode == 0
    told = unexpected_skips(fine, report(tmp_path, "lost.xml", "Redis does not answer"))
    assert (told.returncode, told.stderr) == (1, "skipped, but must run here: t::n: Redis does not answer\n")


def test_the_ci_script_fails_where_a_pass_left_no_report(tmp_path: Path) -> None:
    told = unexpected_skips(report(tmp_path, "fine.xml"), tmp_path / "none.xml")
    assert told.returncode == 1
    assert "none.xml: its tests did not end" in told.stderr


def test_the_installer_refuses_an_old_python_in_one_line() -> None:
    """Run as that Python would: it must parse there, and stop before anything newer."""
    source = (ROOT / "install.py").read_text().replace("if sys.version_info < (3, 11):", "if True:", 1)
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert len(told.stderr.splitlines()) == 1
    assert "3.11 or later is needed" in told.stderr


def test_the_installer_has_no_syntax_that_an_old_python_cannot_read() -> None:
    import ast

    ast.parse((ROOT / "install.py").read_text(), feature_version=(3, 7))


def test_the_installer_changes_nothing_where_nothing_changed(tmp_path: Path) -> None:
    """A copy of the project whose `.venv` carries the stamp of a finished installation."""
    for name in ("install.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    stamp = "import install, json; print(json.dumps({'digest': install._digest(), 'dev': True}))"
    made = subprocess.run([sys.executable, "-c", stamp], cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / ".venv" / "fusescope-install.json").write_text(made.stdout)
    again = subprocess.run([sys.executable, "install.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def installing(folder: Path, *, prepare: str = "") -> subprocess.CompletedProcess[str]:
    """The installer on a copy of the project's declaration, in a process whose machine `prepare` changes first."""
    for name in ("install.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    program = f"import shutil, sys\n{prepare}\nimport install\nsys.argv = ['install.py']\nsys.exit(install.main())"
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        ("open('.venv', 'w').close()", "is no virtual environment"),
        ("sys.modules['ensurepip'] = None", "apt install python3-venv"),
        ("shutil.disk_usage = lambda path: shutil._ntuple_diskusage(9, 9, 5 << 20)", "5 MiB are free"),
    ],
)
def test_the_installer_says_in_one_line_what_stops_it(tmp_path: Path, prepare: str, said: str) -> None:
    told = installing(tmp_path, prepare=prepare)
    assert told.returncode == 2
    assert len(told.stderr.splitlines()) == 1
    assert said in told.stderr
