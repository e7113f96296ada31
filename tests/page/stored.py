"""What a run's file has in it."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from bs4 import BeautifulSoup, Tag
from pydantic import JsonValue

from leadhand.contracts.events import Event
from leadhand.serve.task_documents import MAX_TASKS, stored_page


def parsed(events: Sequence[Event], *, held: bool = False, most: int = MAX_TASKS) -> BeautifulSoup:
    return BeautifulSoup("".join(stored_page(events, held=held, most=most)), "html.parser")


def data_in(document: BeautifulSoup) -> Mapping[str, JsonValue]:
    """The run and its tasks, by their paths in the service's API."""
    element = document.find("script", id="stored")
    assert isinstance(element, Tag)
    return cast("Mapping[str, JsonValue]", json.loads(element.text))


def stored_run(events: Sequence[Event], *, held: bool = False) -> Mapping[str, JsonValue]:
    """The run in the file of these events."""
    data = data_in(parsed(events, held=held))
    return cast("Mapping[str, JsonValue]", next(iter(data.values())))
