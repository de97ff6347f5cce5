"""Parameters that several routes share, bounded so that no request asks for everything at once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from app.addresses import MOST_ID

Id = Annotated[int, Path(ge=1, le=MOST_ID)]
Offset = Annotated[int, Query(ge=0, le=MOST_ID)]
Limit = Annotated[int, Query(ge=1, le=100)]
