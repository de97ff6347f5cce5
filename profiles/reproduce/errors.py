"""What cannot be reproduced."""

from __future__ import annotations


class ReproduceError(ValueError):
    """One line that says what is asked for, why there is no script of it, and what there is."""
