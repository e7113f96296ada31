"""Topics as the sources state them: what each teaches, requires and asks.

How sources and requests name things is in `vocabulary.yaml`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, Field

from leadhand_teams.curriculum.output import LessonExercise, Prerequisite, TaughtConcept
from leadhand_teams.shared.search import terms


class CourseVocabulary(BaseModel):
    """What is in `vocabulary.yaml`."""

    labels: dict[str, str]
    columns: dict[str, list[str]]
    no_topic: list[str]
    none: frozenset[str]
    parts: dict[str, str]
    patterns: dict[str, str]
    stop: frozenset[str]


VOCABULARY: Final = CourseVocabulary.model_validate(
    yaml.safe_load(Path(__file__).with_name("vocabulary.yaml").read_text(encoding="utf-8"))
)


def has(text: str, words: str) -> re.Match[str] | None:
    """Where `text` has one of the words, which are a pattern."""
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE)


class Topic(TaughtConcept):
    """A topic of one source."""

    ref: str = ""
    summary: str = ""
    goals: list[str] = Field(default=[])
    requires: list[str] = Field(default=[])
    """Names or ids, as written."""
    exercises: list[LessonExercise] = Field(default=[])
    file: str = ""
    position: int | None = None
    """Its place in a source that has an order of its own, such as a syllabus."""

    @property
    def text(self) -> str:
        """All that its source says about it."""
        return "\n".join((self.title, self.summary, *self.goals))


def words(text: str) -> list[str]:
    """The stems of a text's words, without those that mean little."""
    return [one for one in terms(text.replace("'s", "")) if one not in VOCABULARY.stop]


def slug(title: str) -> str:
    """An id for a topic that has none."""
    return re.sub(r"[\W_]+", "-", title.lower()).strip("-") or "topic"


def merged(topics: Iterable[Topic]) -> tuple[list[Topic], list[list[Topic]]]:
    """Each topic once, with what all sources state of it; and those that several state.

    Topics of sources with an order of their own come first.
    """
    by_id: dict[str, list[Topic]] = {}
    for topic in topics:
        by_id.setdefault(topic.id, []).append(topic)
    found: list[Topic] = []
    for group in by_id.values():
        first = group[0].model_copy(deep=True)
        for other in group[1:]:
            first.summary = first.summary or other.summary
            first.goals += [goal for goal in other.goals if goal not in first.goals]
            first.requires += [name for name in other.requires if name not in first.requires]
            first.exercises += other.exercises
            first.hours = other.hours if first.hours is None else first.hours
            first.position = other.position if first.position is None else first.position
        found.append(first)
    found.sort(key=lambda topic: topic.position is None)
    return found, [group for group in by_id.values() if len(group) > 1]


def stated_edges(topics: Sequence[Topic]) -> tuple[list[Prerequisite], dict[str, list[Topic]]]:
    """The prerequisites between topics; and what is required, and by what, that is no topic."""
    names = {_name(name): one.id for one in reversed(topics) for name in (one.title, one.id)}
    names |= {topic.id: topic.id for topic in topics}
    edges: dict[tuple[str, str], Prerequisite] = {}
    missing: dict[str, list[Topic]] = {}
    for topic in topics:
        for name in topic.requires:
            parts = [name] if _known(name, names) else re.split(r"\s+(?:and|und|et|y)\s+", name)
            for part in parts:
                before = _known(part, names)
                if before and (before != topic.id or part in (topic.id, topic.title)):
                    edge = Prerequisite(before=before, after=topic.id, ref=topic.ref)
                    edges.setdefault((before, topic.id), edge)
                else:
                    missing.setdefault(part, []).append(topic)
    return [*edges.values()], missing


def _known(name: str, names: Mapping[str, str]) -> str | None:
    return names.get(name) or names.get(_name(name))


def _name(name: str) -> str:
    return " ".join(words(name.replace("_", " "))) or name.lower()


def exercises(topic: Topic) -> list[LessonExercise]:
    """Those of the source; and to complete the sentence with which it says what the topic is."""
    title = set(words(topic.title)) or {""}
    for sentence in re.split(r"(?<=[.!?])\s+", " ".join(topic.summary.split())):
        verb = has(sentence, VOCABULARY.patterns["is"])
        before = words(sentence[: verb.start()]) if verb else []
        if verb and title <= set(before) and len(before) <= len(title) + 2:
            question = f"Complete: {sentence[: verb.end()]} …"
            made = LessonExercise(question=question, solution=sentence, ref=topic.ref)
            is_long = len(sentence[verb.end() :].split()) >= 4
            return [*topic.exercises, made] if is_long else topic.exercises
    return topic.exercises
