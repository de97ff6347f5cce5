"""Numbers of things in the findings' messages."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 launch`, `2,000 launches`; `many` where an s does not make the plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
