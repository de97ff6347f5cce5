"""The Streamlit script, run anew for every change: the theme, the navigation, and one page. Pages are functions."""

from __future__ import annotations

import streamlit as st

from app.navigation import current_page
from app.theme import MARK, STYLESHEET

st.set_page_config(page_title="Fusescope", page_icon=str(MARK), layout="wide")
st.html(STYLESHEET)
st.logo(str(MARK))
current_page().run()
