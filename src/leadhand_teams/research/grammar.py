"""The grammar of questions about tables: `grammar.yaml`, read and checked. Pure."""

import re
from functools import cache
from pathlib import Path
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from leadhand_teams.research.words import any_of

Function = Literal["avg", "median", "count", "sum", "max", "min"]


class Intent(BaseModel):
    """What a question may ask for."""

    model_config = ConfigDict(frozen=True)

    name: Literal[
        "share", "growth", "difference", "ranking", "extreme", "highest", "each", "figure", "cell"
    ]
    words: str
    needs: tuple[str, ...]
    """Attributes of `Ask` that must not be empty."""
    sql: str
    """Gives rows of a name, a value, and two more figures."""
    gives: Literal["number", "names", "list"]
    says: str


class _Grammar(BaseModel):
    words: dict[str, str]
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
    asked = [one for one in GRAMMAR.intents if _has(question, one.words)]
    for name in dict.fromkeys(one.name for one in asked):
        for one in asked:
            if one.name == name and all(getattr(parts, need) for need in one.needs):
                return one
        if name not in ("extreme", "each"):
            return None
    return None


def function_of(question: str) -> str | None:
    """How its figures become one number: the first of `functions` that it has words of."""
    return next((name for name in GRAMMAR.functions if asks(question, name)), None)


def asks(question: str, *names: str) -> bool:
    """Whether a question has words of these lists, or these patterns."""
    return _has(question, "|".join(f"<{one}>" if one in GRAMMAR.words else one for one in names))


def pattern(name: str) -> str:
    """The words of a list of the grammar, or of `words.yaml`."""
    return _filled(GRAMMAR.words[name]) if name in GRAMMAR.words else any_of(name)


def _has(question: str, words: str) -> bool:
    return _compiled(words).search(question) is not None


@cache
def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_filled(words)})\b", re.IGNORECASE)


def _filled(words: str) -> str:
    return re.sub(r"<(\w+)>", lambda one: f"(?:{pattern(one[1])})", words.replace("| ", "|"))
