"""Runbooks: decision trees in YAML that lead from a symptom to a cause and steps. Pure.

`docs/teams/support.md` has their form. A branch is taken if the request or a log names one of its
words; one without words, if no other is. Where none is, the customer is asked.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Final, cast

import yaml
from pydantic import ConfigDict, Field, ValidationError, model_validator

from leadhand_teams.support.output import Data, Walk
from leadhand_teams.support.words import DATA, NEGATIONS, carrying, compiled, pattern, stems

_MOST_NODES: Final = 30
_Lines = tuple[Annotated[str, Field(min_length=1, max_length=2_000)], ...]


class _Yaml(Data):
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, coerce_numbers_to_str=True
    )


class Branch(_Yaml):
    words: Annotated[_Lines, Field(alias="if")] = ()
    label: str = ""
    """What it is called to the customer; by default its words."""
    then: str

    @property
    def is_yes_or_no(self) -> bool:
        return bool(self.words) and {one.casefold() for one in self.words} <= {"yes", "no"}


class RunbookNode(_Yaml):
    cause: str = ""
    do: _Lines = ()
    pitfalls: _Lines = ()
    person: str = ""
    """Why a person is needed; empty: none is."""
    ask: str = ""
    choices: tuple[Branch, ...] = ()


class Runbook(_Yaml):
    title: Annotated[str, Field(min_length=1)]
    when: _Lines
    """Words, phrases and error names of requests that it is for."""
    severity: str = ""
    start: str = "start"
    nodes: Annotated[Mapping[str, RunbookNode], Field(min_length=1)]
    ref: str = ""
    """Its file, and its place in there."""

    @model_validator(mode="after")
    def _leads_somewhere(self) -> "Runbook":
        wanted = {self.start, *(one.then for node in self.nodes.values() for one in node.choices)}
        if missing := sorted(wanted - self.nodes.keys()):
            raise ValueError(f"there is no node {', '.join(missing)}")
        return self


class Symptoms:
    """What is known about a problem, to look for words in."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        sentences = pattern("between_sentences").split(text)
        self._sentences = [_stems(one) for one in sentences]
        self._clauses = [
            [{*_stems(part)} for part in pattern("clauses").split(one)] for one in sentences
        ]

    def names(self, phrase: str) -> bool:
        """Whether it has a word or phrase; names of errors as they are.

        Words may be inflected, and those of a phrase in any order in one sentence, if at least two
        of them carry something; else one word may be between them, as in "the light is off".
        """
        if re.search(r"[^\w\s-]|\d", phrase) or not phrase.islower():
            inside = re.escape(phrase.casefold())
            return re.search(rf"(?<![^\W_]){inside}(?![^\W_])", self._text) is not None
        words = _stems(phrase)
        main = {one for one in carrying(words) if len(one) > 3}
        if len(main) > 1:
            wanted = main | {"not"}.intersection(words)
            return any(wanted <= {*one} for one in self._sentences)
        near = compiled(r"(?<!\S)" + r" (?:(?!not )\S+ )?".join(map(re.escape, words)) + r"(?!\S)")
        return any(near.search(" ".join(one)) for one in self._sentences)

    def says(self, question: str) -> str:
        """What answers a question, `yes` or `no`; empty: nothing does."""
        state = {*re.findall(r"\b(on|off)\b(?=\W*$)", question.casefold())}
        for clause in (one for sentence in self._clauses for one in sentence):
            for part in pattern("alternatives").split(question):
                asked = {*carrying(_stems(part))} - {"on", "off"}
                if state and asked & clause and (is_state := clause & {"on", "off"}):
                    return "yes" if state <= is_state else "no"
                named = len(asked & clause)
                least = min(len(asked), max(2, len(asked) // 2 + 1))
                if named and named + ("it" in clause) >= least:
                    return "no" if "not" in clause else "yes"
        return ""

    def fit(self, branch: "Branch", question: str) -> int:
        """How many words of a branch it has, most of all of the phrases; 0: it is not taken."""
        if branch.is_yes_or_no:
            return self.says(question) in {one.casefold() for one in branch.words}
        named = [one for one in branch.words if self.names(one) and not self._denies(one)]
        return max((len(one.split()) for one in named), default=0)

    def _denies(self, phrase: str) -> bool:
        """Whether it says that the last word of a phrase is not so, as in "the lamp is not red"."""
        *others, last = _stems(phrase) or [phrase]
        denied = compiled(rf"(?<!\S)not (?:\S+ )?{re.escape(last)}(?!\S)")
        return "not" not in others and any(denied.search(" ".join(one)) for one in self._sentences)

    def best(self, runbooks: Iterable[Runbook]) -> Runbook | None:
        """The runbook of which most words fit, those of phrases one by one; `None`: none does.

        Without one, that of which the matter and the phrase of a branch are named.
        """
        found = [
            (sum(len(one.split()) for one in book.when if self.names(one)), book)
            for book in runbooks
        ]
        most, best = max(found, key=lambda one: one[0], default=(0, None))
        if most:
            return best
        said = {one for sentence in self._sentences for one in sentence}
        about = [book for _, book in found if said.intersection(carrying(_stems(book.title)))]
        for book in about:
            for choice in (one for node in book.nodes.values() for one in node.choices):
                phrases = [one for one in choice.words if len(carrying(_stems(one))) > 1]
                if any(map(self.names, phrases)):
                    return book
        return None


def _stems(text: str) -> list[str]:
    """The stems of a text, with every negation as `not`."""
    return ["not" if one in NEGATIONS else one for one in stems(text)]


def walk(runbook: Runbook, symptoms: Symptoms) -> Walk:
    """Follow a runbook as far as the symptoms lead."""
    way: list[RunbookNode] = []
    open_checks: list[str] = []
    name: str | None = runbook.start
    while name is not None and len(way) < _MOST_NODES:
        node = runbook.nodes[name]
        way.append(node)
        fits = {one.then: symptoms.fit(one, node.ask) for one in node.choices if one.words}
        if not any(fits.values()):
            kinds = [one for one in node.choices if one.words and not one.is_yes_or_no]
            told = [one.then for one in kinds if _told(runbook, one.then, symptoms)]
            fits |= dict.fromkeys(told, 1) if len(told) == 1 else {}
        name = max(fits, key=lambda one: fits[one], default=None)
        if name is None or not fits[name]:
            name = next((one.then for one in node.choices if not one.words), None)
            checks = [_branch(one, runbook.nodes[one.then]) for one in node.choices if one.words]
            open_checks += [f"{node.ask} {one}" for one in checks if name and node.ask]
        else:
            open_checks = []
    last = way[-1]
    steps = (  # Without those that only find out what the symptoms say already.
        step
        for one in way
        for step in one.do
        if one is last or {*carrying(stems(one.ask))}.isdisjoint(stems(step))
    )
    return Walk(
        runbook=runbook.title,
        ref=runbook.ref,
        severity=runbook.severity,
        cause=next((one.cause for one in reversed(way) if one.cause), ""),
        steps=(*steps, *(open_checks if last.ask else ())),
        sees=tuple(_linked("\n".join(last.do), runbook.ref)),
        pitfalls=tuple(pitfall for one in way for pitfall in one.pitfalls),
        person=next((one.person for one in way if one.person), ""),
        question=last.ask,
        branches=tuple(_branch(one, runbook.nodes[one.then]) for one in last.choices),
    )


def _told(runbook: Runbook, name: str, symptoms: Symptoms) -> bool:
    """Whether the symptoms decide a question of this node or below it."""
    found: set[str] = set()
    left = [name]
    while left:
        node = runbook.nodes[name := left.pop()]
        if any(symptoms.fit(one, node.ask) for one in node.choices if one.words):
            return True
        found.add(name)
        left += [one.then for one in node.choices if one.then not in found]
    return False


def _linked(text: str, ref: str) -> Iterator[str]:
    """The references of the sections to which a text of the file at `ref` links."""
    file = ref.partition("#")[0]
    for _, link in pattern("cross_link").findall(text):
        path, _, anchor = link.partition("#")
        to = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        yield f"{to}#{anchor}"


def _branch(choice: Branch, node: RunbookNode) -> str:
    """A branch that was not taken, in a line."""
    label = choice.label or ", ".join(choice.words)
    return f"{label}: {' '.join((node.cause, *node.do[:1])).strip() or node.ask or node.person}"


class Unusable(ValueError):
    """A file that is no runbook; the message says why."""


@lru_cache(256)
def read_runbooks(text: str, ref: str) -> tuple[Runbook, ...]:
    """The runbooks of a YAML file: one, or a list. Raises `Unusable`."""
    try:
        for expression, why in DATA["unusable"].items():
            if compiled(expression).search(text):
                raise Unusable(why)
        data: object = yaml.load(text, yaml.BaseLoader)
        rows = cast("list[object]", data) if isinstance(data, list) else [data]
        found = [Runbook.model_validate(row) for row in rows]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise Unusable(f"it is no runbook: {where}: {first['msg']}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise Unusable(f"it is not YAML: {str(error).splitlines()[0]}") from error
    return placed(found, ref)


def placed(runbooks: Sequence[Runbook], ref: str) -> tuple[Runbook, ...]:
    """The runbooks of the file `ref` with their references."""
    refs = [ref] if len(runbooks) == 1 else [f"{ref}#{one.title}" for one in runbooks]
    found = zip(runbooks, refs, strict=True)
    return tuple(one.model_copy(update={"ref": place}) for one, place in found)


def to_yaml(runbooks: Sequence[Runbook]) -> str:
    """The text of their file."""
    rows = [
        one.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"ref"})
        for one in runbooks
    ]
    data = rows if len(rows) > 1 else rows[0]
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
