"""Reads the prompts, which are Markdown files beside the code that sends them."""

import functools
from importlib.resources import files


@functools.cache
def prompt(package: str, name: str) -> str:
    """The text of `prompts/<name>.md` in `package`, without blank lines around it."""
    return (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def joined(*parts: str) -> str:
    """The parts that say something, a blank line between them."""
    return "\n\n".join(part.strip() for part in parts if part.strip())
