"""What the team knows: sections of documents, runbooks, logs and past tickets.

Read once a process: files that did not change are not read again, and requests share an index.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from leadhand.tools.files import HIDDEN
from leadhand_teams.shared.reading import Reading, Text, read, read_once
from leadhand_teams.support.lists import runbooks_of
from leadhand_teams.support.output import DocSection
from leadhand_teams.support.runbooks import Runbook, Symptoms, Unusable, read_runbooks
from leadhand_teams.support.sections import MAYBE, PastTicket, SectionIndex, sections_of
from leadhand_teams.support.words import pattern

OWN: Final = "leadhand-support"
"""Begins the references of the knowledge that comes with the team."""


@dataclass(frozen=True)
class SupportLibrary:
    """What was read from the files handed in, or what comes with the team."""

    index: SectionIndex
    runbooks: Sequence[Runbook] = ()
    logs: Sequence[Text] = ()
    unread: Sequence[str] = ()
    """What could not be read, a line each."""
    own: bool = False
    """Whether sections and runbooks are those that come with the team."""

    def runbook_for(self, request: str, symptoms: Symptoms) -> Runbook | None:
        """The runbook that names the symptoms; else one without `When:`, if it is the section that
        is nearest to the request."""
        if (named := symptoms.best(self.runbooks)) is not None:
            return named
        near = [one.ref for one in self.index.ranked(request, 1) if one.score >= MAYBE]
        return next((one for one in self.runbooks if one.ref in near), None)


def library_of(paths: Sequence[str]) -> SupportLibrary:
    """What is in the files at these paths; without documents and runbooks, the team's own."""
    given = _given(paths) if paths else own_library()
    if given.index.sections or given.runbooks:
        return given
    return replace(own_library(), logs=given.logs, unread=given.unread)


@cache
def own_library() -> SupportLibrary:
    """The documents and runbooks that come with the team."""
    with as_file(files("leadhand_teams.support") / "knowledge") as folder:
        return replace(_library(read([folder]), f"{OWN}/"), own=True)


@cache
def signatures() -> tuple[Runbook, ...]:
    """What well-known errors and codes mean: they hold for any product."""
    text = (files("leadhand_teams.support") / "errors.yaml").read_text("utf-8")
    return read_runbooks(text, f"{OWN}/errors.yaml")


def _library(reading: Reading, prefix: str = "") -> SupportLibrary:
    """What is in the files, by their names and what they look like."""
    unread = {one.name: one.why for one in reading.unread if one.why != HIDDEN}
    texts = {one.name: replace(one, name=prefix + one.name) for one in reading.texts}
    sections, tickets = list[DocSection](), list[PastTicket]()
    runbooks, logs = list[Runbook](), list[Text]()
    for name in reading.files:
        text, suffix = texts.get(name), Path(name).suffix.casefold()
        if text is None or "json" in suffix:
            rows = [one for one in _rows(name, reading) if one.title or one.text]
            tickets += [PastTicket(one.title or one.text, one.sections) for one in rows]
            sections += [
                DocSection(
                    ref=one.id or f"{name}:{n}",
                    title=one.title,
                    path=tuple(re.split(r"\s*>\s*", one.path)[:-1]),
                    text=one.text,
                )
                for n, one in enumerate(rows, 1)
                if not one.sections
            ]
            if not rows:
                unread.setdefault(name, "its rows have no `title` and `text`")
        elif suffix in (".yaml", ".yml"):
            try:
                runbooks += read_runbooks(text.text, text.name)
            except Unusable as error:
                unread[name] = str(error)
        elif suffix == ".log" or (
            suffix in (".txt", ".out", "") and len(pattern("log").findall(text.text)) > 2
        ):
            logs.append(text)
        elif pattern("runbook").search(text.text) and (of := runbooks_of(text.text, text.name)):
            runbooks += of
            if not of[1:] and not pattern("when").search(text.text):
                sections.append(DocSection(ref=of[0].ref, title=of[0].title, text=text.text))
        else:
            sections += sections_of(text)
    why = [f"{name}: {why}" for name, why in unread.items()]
    return SupportLibrary(SectionIndex(sections, tickets), runbooks, logs, why)


_given = read_once(_library)


class _Row(BaseModel):
    """A section of a manual, or a past ticket."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = ""
    title: str = Field(default="", validation_alias=AliasChoices("title", "question", "subject"))
    path: str = ""
    text: str = Field(default="", validation_alias=AliasChoices("text", "body", "answer"))
    sections: tuple[str, ...] = Field(default=(), validation_alias=AliasChoices("sections", "gold"))


def _rows(name: str, reading: Reading) -> Iterator[_Row]:
    """The rows of JSONL, of a JSON list or of tables; what is none is left out."""
    lines = reading.lines.get(name, ()) if "json" in Path(name).suffix.casefold() else ()
    with suppress(ValidationError):
        yield from TypeAdapter(list[_Row]).validate_json("\n".join(lines))
        return
    for line in lines:
        with suppress(ValidationError):
            yield _Row.model_validate_json(line)
    for table in (one for one in reading.tables if one.file == name and not lines):
        for n in range(len(table)):
            cells = {one.name.casefold(): one.texts[n] for one in table.columns}
            yield _Row.model_validate({**cells, "sections": ()})
