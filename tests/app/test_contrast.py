"""Text can be read on its ground in both themes: in the colours of the stylesheet and in those of the canvas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app"
STYLE = (APP / "theme" / "style.css").read_text(encoding="utf-8")
PALETTE = (APP / "timeline" / "canvas" / "palette.js").read_text(encoding="utf-8")
LEAST = 4.5  # WCAG 2.2, 1.4.3: text below 18 pt
THEMES = ("light", "dark")
TEXTS = (
    *(
        ("--fs-ground", text)
        for text in ("--fs-ink", "--fs-muted", "--fs-faint", "--fs-link", "--fs-green", "--fs-red")
    ),
    *(("--fs-ground-2", text) for text in ("--fs-ink", "--fs-muted", "--fs-faint")),
    *((f"--fs-{name}-ground", f"--fs-{name}") for name in ("ok", "warn", "bad", "run")),
    ("--fs-ground", "--fs-orange"),
    ("--fs-idle-ground", "--fs-muted"),
)
ROLES = ("gemm", "attention", "softmax", "norm", "pointwise", "reduction", "communication", "helper")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("ground", "text"), TEXTS)
def test_text_of_pages_can_be_read_on_its_ground(ground: str, text: str, theme: str) -> None:
    assert _contrast(_variable(text, theme), _variable(ground, theme)) >= LEAST


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", ROLES)
def test_names_on_slices_can_be_read_and_have_the_colours_of_pages(role: str, theme: str) -> None:
    fill, text = _of_role(role, theme)
    assert _contrast(fill, text) >= LEAST
    assert [fill, text] == [_variable(f"--role-{role}", theme), _variable(f"--role-{role}-text", theme)]


@pytest.mark.parametrize("theme", THEMES)
def test_other_text_of_the_canvas_can_be_read_on_its_ground(theme: str) -> None:
    ink = dict(re.findall(r'(\w+): "(#\w{6})"', _section("INK", theme)))
    assert _contrast(ink["muted"], ink["ground"]) >= LEAST
    assert _contrast(ink["unlit"], ink["border"]) >= LEAST
    assert _contrast("#14171C", ink["faint"]) >= LEAST
    assert _contrast("#FFFFFF", ink["cursor"]) >= LEAST


def _variable(name: str, theme: str) -> str:
    found = re.search(rf"{name}: (?:light-dark\((#\w{{6}}), (#\w{{6}})\)|(#\w{{6}}))", STYLE)
    assert found is not None, name
    light, dark, both = found.groups()
    return str(both or (light if theme == "light" else dark))


def _section(name: str, theme: str) -> str:
    found = re.search(rf"const {name} = {{.*?\n  {theme}: (.*?\n?)}},\n", PALETTE, re.DOTALL)
    assert found is not None, name
    return found.group(1)


def _of_role(role: str, theme: str) -> tuple[str, str]:
    found = re.search(rf'{role}: \["(#\w{{6}})", "(#\w{{6}})"', _section("ROLES", theme))
    assert found is not None, role
    return found.group(1), found.group(2)


def _contrast(one: str, other: str) -> float:
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
