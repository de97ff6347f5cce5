"""The commit that runs name is that of Fusescope's own tree, and of no other."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiles.revision import checked_out, revision


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    revision.cache_clear()
    yield
    revision.cache_clear()


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "fusescope"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "a.py").write_text("one\n")
    git(root, "add", "a.py")
    git(root, "commit", "--quiet", "--message", "one")
    return root


def test_a_clean_tree_is_its_commit_and_a_changed_one_says_so(tree: Path) -> None:
    commit = git(tree, "rev-parse", "HEAD")
    assert checked_out(tree) == commit
    git(tree, "tag", "-a", "v1", "-m", "v1")
    assert checked_out(tree) == commit
    (tree / "a.py").write_text("two\n")
    assert checked_out(tree) == f"{commit}+"


def test_a_repository_further_up_or_in_the_environment_is_somebody_else_s(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tree / "venv"
    inside.mkdir()
    assert checked_out(inside) is None
    other = tree / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    commit = checked_out(tree)
    monkeypatch.delenv("GIT_DIR")
    assert commit == git(tree, "rev-parse", "HEAD")


def test_without_git_or_commits_nothing_is_known(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    assert checked_out(empty) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checked_out(tree) is None


def test_an_image_says_what_it_was_built_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSESCOPE_COMMIT", "c0ffee")
    assert revision() == "c0ffee"
