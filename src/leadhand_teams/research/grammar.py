"""The grammar of questions: `grammar.yaml`, read and checked. Pure."""

import re
from functools import cache
from pathlib import Path
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from leadhand_teams.research.words import listed

Function = Literal["avg", "median", "count", "sum", "max", "min"]


class Intent(BaseModel):
    """What a question may ask for."""

    model_config = ConfigDict(frozen=True)

    name: Literal[
        "share", "growth", "difference", "ranking", "extreme", "highest", "above", "each",
        "figure", "cell",
    ]  # fmt: skip
    words: str
    needs: tuple[str, ...]
    """Attributes of `Ask` that must not be empty."""
    sql: str
    """Gives rows of a name, a value, and two more figures."""
    gives: Literal["number", "names", "list"]
    says: str


class _Grammar(BaseModel):
    words: dict[str, str]
    bounds: dict[str, str]
    functions: tuple[str, ...]
    intents: tuple[Intent, ...]
    columns: str
    cited: str


GRAMMAR: Final = _Grammar.model_validate(
    yaml.safe_load(Path(__file__).with_name("grammar.yaml").read_text(encoding="utf-8"))
)


def intent_of(question: str, parts: object) -> Intent | None:
    """What a question asks for, given the attributes of `parts` that are not empty.

    The words of one intent rule out the later ones, except for "by" and "what is the highest".
    """
    asked = [one for one in GRAMMAR.intents if compiled(one.words).search(question)]
    for name in dict.fromkeys(one.name for one in asked):
        for one in asked:
            if one.name == name and all(getattr(parts, need) for need in one.needs):
                return one
        if name not in ("extreme", "above", "each"):
            return None
    return None


def function_of(question: str) -> str | None:
    """How its figures become one number: the first of `functions` that it has words of."""
    return next((name for name in GRAMMAR.functions if asks(question, name)), None)


def asks(question: str, *names: str) -> bool:
    """Whether a question has words of these lists, or these patterns."""
    words = "|".join(f"<{one}>" if one in GRAMMAR.words else one for one in names)
    return compiled(words).search(question) is not None


@cache
def compiled(words: str) -> re.Pattern[str]:
    """A pattern of whole words, with `<lists>` of the grammar or of `words.yaml`."""
    return re.compile(rf"\b(?:{_filled(words)})\b", re.IGNORECASE)


def _filled(words: str) -> str:
    def pattern(found: re.Match[str]) -> str:
        name = found[1]
        has = GRAMMAR.words.get(name)
        return f"(?:{_filled(has) if has else '|'.join(listed(name))})"

    return re.sub(r"(?<!\?P)<(\w+)>", pattern, words.replace("| ", "|"))
