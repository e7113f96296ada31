"""Numbers of things in words."""


def counted(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`, `3 queries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"
