"""The glossary has each status and event type once, and stays short."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import leadhand
from leadhand.contracts.answer import Status, TaskStatus
from leadhand.contracts.events import Event
from leadhand.contracts.outcome import EscalationReason

DOCS = Path(__file__).parent.parent / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
LISTS = {
    heading: re.findall(r"^- (?:\*\*|`)(.+?)(?:\*\*|`): \S", text, re.M)
    for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GLOSSARY, re.M | re.S)
}


def terms(heading: str) -> set[str]:
    """The terms of one list."""
    assert len(LISTS[heading]) == len(set(LISTS[heading]))
    return set(LISTS[heading])


def test_completion_offers_the_public_names() -> None:
    offered = dir(leadhand)
    assert {"Supervisor", "events"} <= {*offered}
    assert all(name[0] != "_" and hasattr(leadhand, name) for name in offered)


def test_it_is_short() -> None:
    assert len(GLOSSARY.split()) <= 1_500


def test_every_status_is_explained_and_no_other() -> None:
    assert terms("Answer statuses") == set(get_args(Status))
    assert terms("Task statuses") == set(get_args(TaskStatus))


def test_every_reason_to_hand_a_task_back_is_explained_and_no_other() -> None:
    page = (DOCS / "failures.md").read_text(encoding="utf-8")
    table = page.partition("| reason |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.M)) == set(get_args(EscalationReason))


def test_every_event_type_is_explained_and_no_other() -> None:
    of_all = [field for event in get_args(Event) for field in fields(event)]
    types = {field.default for field in of_all if field.name == "type"}
    assert terms("Event types") == types


def test_no_concept_is_explained_twice() -> None:
    assert len(terms("Concepts")) > 30
