"""How sources and requests name things, in `vocabulary.yaml`."""

import re
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel


class CourseVocabulary(BaseModel):
    """What is in `vocabulary.yaml`."""

    labels: dict[str, str]
    columns: dict[str, list[str]]
    part: str
    no_topic: list[str]
    none: frozenset[str]
    hour: str
    parts: dict[str, str]
    whole: str
    weeks: str
    hours_a_week: str


VOCABULARY: Final = CourseVocabulary.model_validate(
    yaml.safe_load(Path(__file__).with_name("vocabulary.yaml").read_text(encoding="utf-8"))
)


def has(text: str, words: str) -> re.Match[str] | None:
    """Where `text` has one of the words, which are a pattern."""
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE)
