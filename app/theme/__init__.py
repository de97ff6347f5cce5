"""The one stylesheet and the logo; Streamlit's own settings are in .streamlit/config.toml."""

from __future__ import annotations

from pathlib import Path

STYLESHEET = Path(__file__).parent / "style.css"
STATIC = Path(__file__).parent.parent / "static"
MARK = STATIC / "mark.svg"
LOGO = STATIC / "logo.svg"
