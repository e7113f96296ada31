"""What the team knows: sections of documents, runbooks, logs and past tickets.

Read once a process: files that did not change are not read again, and requests share an index.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from leadhand.tools.files import HIDDEN, Document, Documents, Inputs
from leadhand_teams.shared.reading import stamps
from leadhand_teams.support.lists import runbooks_of
from leadhand_teams.support.runbooks import Runbook, Unusable, read_runbooks
from leadhand_teams.support.sections import DocSection, PastTicket, SectionIndex, sections_of
from leadhand_teams.support.words import pattern

OWN: Final = "leadhand-support"
"""Begins the references of the knowledge that comes with the team."""
MAX_CHARS: Final = 4_000_000
"""Of all documents together: what comes after it is named as not searched."""


class _Row(BaseModel):
    """A section of a manual, or a past ticket."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = ""
    title: str = ""
    path: str = ""
    text: str = Field(default="", validation_alias=AliasChoices("text", "body", "question"))
    sections: tuple[str, ...] = Field(default=(), validation_alias=AliasChoices("sections", "gold"))


@dataclass
class SupportLibrary:
    """What was read from the files handed in, or what comes with the team. Do not change it."""

    sections: list[DocSection] = field(default_factory=list[DocSection])
    runbooks: list[Runbook] = field(default_factory=list[Runbook])
    logs: list[Document] = field(default_factory=list[Document])
    tickets: list[PastTicket] = field(default_factory=list[PastTicket])
    unread: list[str] = field(default_factory=list[str])
    """What could not be read, a line each."""
    own: bool = False
    """Whether sections and runbooks are those that come with the team."""

    @property
    def index(self) -> SectionIndex:
        return _index(tuple(self.sections), tuple(self.tickets))

    def take(self, document: Document, name: str) -> None:
        """Put a document where it belongs, by its name and what it looks like."""
        text, suffix = document.text, Path(name).suffix.casefold()
        if document.cut:
            self.unread.append(f"{name}: {document.cut}")
        if suffix in (".jsonl", ".ndjson", ".json"):
            self._take_rows([*_rows(text)], name)
        elif suffix in (".yaml", ".yml"):
            try:
                self.runbooks += read_runbooks(text, name)
            except Unusable as error:
                self.unread.append(f"{name}: {error}")
        elif suffix in (".csv", ".tsv"):
            self.unread.append(f"{name}: a table is no document; hand in text, Markdown or JSONL")
        elif suffix == ".log" or (
            suffix in (".txt", ".out", "") and len(pattern("log").findall(text)) > 2
        ):
            self.logs.append(document)
        elif pattern("runbook").search(text) and (found := runbooks_of(text, name)):
            self.runbooks += found
        else:
            self._add(sections_of(document, name), name)

    def _take_rows(self, rows: Sequence[_Row], name: str) -> None:
        if "ticket" in Path(name).stem.casefold():
            known = [one for one in rows if one.sections]
            self.tickets += [PastTicket(one.text or one.title, one.sections) for one in known]
            return
        found: list[DocSection] = []
        for n, row in enumerate(rows, 1):
            if row.title or row.text:
                path = tuple(re.split(r"\s*>\s*", row.path)[:-1])
                found.append(DocSection(row.id or f"{name}:{n}", row.title, path, row.text))
        self._add(found, name)
        self.unread += [] if found else [f"{name}: its rows have no `title` and `text`"]

    def _add(self, found: Sequence[DocSection], name: str) -> None:
        chars = sum(len(one.text) for one in self.sections)
        for section in found:
            chars += len(section.text)
            if chars > MAX_CHARS:
                self.unread.append(f"{name}: not searched from “{section.title}” on, for its size")
                return
            self.sections.append(section)


def library_of(paths: Sequence[str]) -> SupportLibrary:
    """What is in the files at these paths; without documents and runbooks, the team's own."""
    given = _read(tuple(paths), stamps(paths)) if paths else SupportLibrary()
    if given.sections or given.runbooks:
        return given
    return replace(own_library(), logs=given.logs, unread=given.unread)


@lru_cache(16)
def _index(sections: tuple[DocSection, ...], tickets: tuple[PastTicket, ...]) -> SectionIndex:
    return SectionIndex(sections, tickets)


@lru_cache(1)
def own_library() -> SupportLibrary:
    """The documents and runbooks that come with the team."""
    with as_file(files("leadhand_teams.support") / "knowledge") as folder:
        return replace(_read((str(folder),), None, OWN), own=True)


@lru_cache(1)
def signatures() -> tuple[Runbook, ...]:
    """What well-known errors and codes mean: they hold for any product."""
    text = (files("leadhand_teams.support") / "errors.yaml").read_text("utf-8")
    return read_runbooks(text, f"{OWN}/errors.yaml")


@lru_cache(16)
def _read(paths: tuple[str, ...], _: object, prefix: str = "") -> SupportLibrary:
    inputs = Inputs.of([Path(path) for path in paths])
    found = SupportLibrary()
    found.unread += [f"{one.name}: {one.why}" for one in inputs.skipped if one.why != HIDDEN]
    for document in Documents(inputs).read_each(inputs.files):
        if isinstance(document, Document):
            found.take(document, f"{prefix}/{document.name}" if prefix else document.name)
        else:
            found.unread.append(f"{document.name}: {document.why}")
    return found


def _rows(text: str) -> Iterator[_Row]:
    """The rows of JSONL, or of a JSON list; what is neither is left out."""
    with suppress(ValidationError):
        yield from TypeAdapter(list[_Row]).validate_json(text)
        return
    for line in text.splitlines():
        with suppress(ValidationError):
            yield _Row.model_validate_json(line)
