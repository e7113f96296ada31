"""What requests are recognised by, from `signals.yaml`."""

import re
from functools import lru_cache
from importlib.resources import files
from typing import Final, cast

import yaml

DATA: Final = cast(
    "dict[str, object]",
    yaml.safe_load((files("leadhand_teams.support") / "signals.yaml").read_text("utf-8")),
)


@lru_cache(200)
def compiled(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def pattern(name: str) -> re.Pattern[str]:
    """The expression of this name."""
    return compiled(str(DATA[name]))


def foreign(text: str) -> bool:
    """Whether a text is in another language than English, by its small words and letters."""
    english = {*str(DATA["stops"]).split()}.intersection(re.findall(r"[a-z']+", text.casefold()))
    return len(pattern("foreign").findall(text)) > max(1, len(english))


def lines(name: str) -> dict[str, str]:
    """A table of lines by name."""
    return cast("dict[str, str]", DATA[name])
