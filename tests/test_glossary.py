"""The glossary has every public name, and each status, rung and event type, once."""

import re
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import get_args

import leadhand
from leadhand.contracts.answer import Status, TaskStatus
from leadhand.contracts.events import Event
from leadhand.contracts.outcome import EscalationReason
from leadhand.contracts.team import Rung

GLOSSARY = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
TABLES = {
    heading: [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")][1:]
    for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GLOSSARY, re.M | re.S)
}


def terms(heading: str) -> set[str]:
    """The terms of one table, without their backticks."""
    return {row[0].strip(" `") for row in TABLES[heading]}


def test_every_public_name_is_explained() -> None:
    assert set(leadhand.__all__) - terms("Names in Python") == set()
    assert dir(leadhand) == sorted(leadhand.__all__), "what completion offers"


def test_every_status_reason_and_rung_is_explained_and_no_other() -> None:
    assert terms("Answer statuses") == set(get_args(Status))
    assert terms("Task statuses") == set(get_args(TaskStatus))
    assert terms("Escalation reasons") == set(get_args(EscalationReason))
    assert terms("Rungs") == set(get_args(Rung))


def test_every_event_type_is_explained_and_no_other() -> None:
    of_all = [field for event in get_args(Event) for field in fields(event)]
    types = {field.default for field in of_all if field.name == "type"}
    assert terms("Event types") == types


def test_each_term_is_one_line_with_a_meaning_and_three_counterparts() -> None:
    for heading, rows in TABLES.items():
        assert [row for row in rows if [bool(cell.strip()) for cell in row] != [True] * 5] == []
        assert [term for term, n in Counter(row[0] for row in rows).items() if n > 1] == [], heading
