"""The typed answer of the team."""

import datetime as dt
from typing import Literal

from pydantic import BaseModel

from leadhand_teams.shared.statements import Statement


class TaughtConcept(BaseModel):
    """A topic, with its id as given."""

    id: str
    title: str
    hours: float | None = None
    """As its source states them; null if none does."""
    ref: str


class Prerequisite(BaseModel):
    """What has to be taught before what."""

    before: str
    after: str
    basis: Literal["given", "guessed"] = "given"
    score: float = 1
    """Of a guess: how strongly the words suggest it, from 0.5 up; no probability."""
    ref: str = ""


class LessonExercise(BaseModel):
    """A question for learners."""

    question: str
    solution: str | None = None
    """In the words of the source; null if none gives one."""
    ref: str
    concept: str = ""
    by_model: bool = False


class Lesson(BaseModel):
    """What one unit, or one week, teaches."""

    number: int
    title: str
    concepts: list[str]
    hours: float
    starts: dt.date | None = None
    """Its first day."""
    objectives: list[str] = []
    exercises: list[LessonExercise] = []


class Curriculum(BaseModel):
    """Topics in an order in which they can be taught, and the lessons that teach them."""

    concepts: list[TaughtConcept] = []
    prerequisites: list[Prerequisite] = []
    order: list[str] = []
    lessons: list[Lesson] = []
    problems: list[str] = []
    is_reviewed: bool = False
    statements: list[Statement] = []
    removed_statements: int = 0
    unread: list[str] = []
