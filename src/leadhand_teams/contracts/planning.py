"""Plans a review: one task a contract and question; none that the request does not need."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from leadhand import Plan, Task, Team
from leadhand.errors import InputError
from leadhand.extension.roles import PlanRequest
from leadhand_teams.contracts.clauses import asked, parties
from leadhand_teams.contracts.documents import Contract, contract
from leadhand_teams.contracts.drafts import Job
from leadhand_teams.contracts.onesided import sides_of
from leadhand_teams.contracts.output import PartySides
from leadhand_teams.contracts.playbook import PACKAGED, Playbook, handed_in, ready_made
from leadhand_teams.contracts.wording import wording


@dataclass(frozen=True)
class Work:
    """What a request asks for."""

    clauses: bool = True
    checks: bool = True
    risks: bool = True
    compare: bool = True
    categories: tuple[str, ...] = ()
    """The only categories that it asks for; empty: all."""


def work(request: str) -> Work:
    """What a request asks for, by its words; everything if they do not say."""
    names = ("compare", "check", "risk", "find", "review")
    compare, check, risk, find, review = (bool(wording(name).search(request)) for name in names)
    named = asked(request)
    find = find or bool(named)
    if review or not (compare or check or risk or find):
        return Work()
    only = find and not (check or risk or compare)
    return Work(only or risk, check or risk, risk, compare, named if only else ())


def plan(request: PlanRequest, team: Team) -> Plan:
    """The tasks for the contracts that were handed in. Raises `InputError` if there are none."""
    del team
    listed = _files([path for one in request.batches.get("inputs", ()) for path in one.artifacts])
    books = [path for path in listed if path.endswith((".yaml", ".yml"))]
    contracts = [path for path in listed if path not in books]
    if not contracts:
        raise InputError("no contract to read: hand in PDF, DOCX or text files with --input")
    if len(books) > 1:
        raise InputError(f"one playbook at a time, not {len(books)}: {', '.join(books)}")
    wanted = work(request.text)
    pairs = versions(contracts) if wanted.compare else []
    if not pairs and wanted.compare and wording("compare").search(request.text):
        pairs = [(contracts[0], contracts[1])] if len(contracts) == 2 else []
    earlier = {before for before, _ in pairs}
    names = _names(contracts)
    tasks: list[Task] = []
    for path in contracts:
        if path not in earlier:
            tasks += _tasks(path, names[path], wanted, request.text, books)
    for before, after in pairs:
        old, new = names[before], names[after]
        intent = f"Find what was added, dropped, loosened or tightened in {new} since {old}"
        tasks.append(_task("changes", "risk", intent, [before, after], Job(names=(old, new))))
    return Plan(goal=request.text, tasks=tasks)


def _tasks(path: str, name: str, wanted: Work, request: str, books: Sequence[str]) -> list[Task]:
    tasks: list[Task] = []
    found = contract(path)
    if wanted.clauses or found is None:  # whose task says why it can't be read
        listed = ", ".join(wanted.categories) or "all categories"
        job = Job(names=(name,), categories=wanted.categories)
        intent = f"Find the clauses of {name} and quote them: {listed}"
        tasks.append(_task("clauses", "clauses", intent, [path], job))
    if found is None:
        return tasks
    book = _playbook(found, request, books)
    sides = _sides(found, request, book)
    if wanted.checks:
        job = Job(names=(name,), playbook=book.name, side=sides.ours[0])
        intent = f"Check {name} against the playbook {book.name}, for the {job.side}"
        tasks.append(_task("checks", "compliance", intent, [path, *books], job))
    if wanted.risks:
        intent = f"Rank the risks of {name}, each with its clause and the question for the lawyer"
        ids = [task.id for task in tasks]
        tasks.append(_task("risks", "risk", intent, [path], Job(names=(name,), sides=sides), ids))
    return tasks


def _task(
    kind: str, worker: str, intent: str, paths: Sequence[str], job: Job, after: Sequence[str] = ()
) -> Task:
    slug = re.sub(r"[^a-z0-9]+", "-", job.names[-1].lower()).strip("-")[:60]
    return Task(
        id=f"{kind}-{slug}",
        worker=worker,
        intent=intent,
        artifacts=list(paths),
        payload=job.model_dump(mode="json"),
        depends_on=list(after),
        tolerates_missing=bool(after),
        done_when="Each statement has the words of the contract, or what is missing is named.",
    )


def _sides(contract: Contract, request: str, book: Playbook) -> PartySides:
    """Whom the request reads the contract for, by role or by the name of a party."""
    every = parties(contract)
    ours = [short for name, short in every if _is_named(name, request) or _is_named(short, request)]
    if len(ours) != 1:
        ours = []
    side = book.side(request, ours)
    known = {word for name, more in book.sides.items() for word in (name, *more)}
    ours = [one.lower() for one in ours]
    shorts = [short.lower() for _, short in every if short.lower() not in known]
    return sides_of(side, book.sides, ours, [one for one in shorts if ours and one not in ours])


def _is_named(party: str, request: str) -> bool:
    first = re.split(r"[\s,]", party)[0]
    return len(first) > 2 and bool(re.search(rf"\b(for|as) (the )?{re.escape(first)}\b", request))


def _playbook(contract: Contract, request: str, books: Sequence[str]) -> Playbook:
    """The playbook that was handed in or named, else the one for this kind of contract."""
    if books:
        return handed_in(books[0])
    for name in PACKAGED:
        if re.search(rf"\bplaybook\W+(?:called\W+)?{name}\b|\b{name} playbook\b", request, re.I):
            return ready_made(name)
    return ready_made("commercial" if contract.about.kind == "other" else contract.about.kind)


def versions(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of an earlier and a later file whose names differ in their version only."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        stem = re.sub(r"[\W_]+", " ", wording("version").sub("", _versioned(path))).strip()
        groups.setdefault(stem, []).append(path)
    pairs: list[tuple[str, str]] = []
    for group in groups.values():
        if any(wording("version").search(_versioned(path)) for path in group):
            pairs += pairwise(sorted(group, key=_age))
    return pairs


def _versioned(path: str) -> str:
    """The name without its suffix, words apart; behind that of its folder if that is a version."""
    folder, stem = Path(path).parent.name, Path(path).stem
    whole = f"{folder} {stem}" if wording("version").fullmatch(folder) else stem
    return whole.replace("_", " ").lower()


def _age(path: str) -> tuple[int, list[int]]:
    marks = [found.group() for found in wording("version").finditer(_versioned(path))]
    late, early = (
        sum(bool(wording(side).fullmatch(mark)) for mark in marks) for side in ("late", "early")
    )
    return late - early, [int(digits) for mark in marks for digits in re.findall(r"\d+", mark)]


def _names(paths: Sequence[str]) -> dict[str, str]:
    """What each file is called in the report: with its folder where names repeat."""
    used = Counter(Path(path).name for path in paths)
    repeated = {path for path in paths if used[Path(path).name] > 1}
    return {path: "/".join(Path(path).parts[-2 if path in repeated else -1 :]) for path in paths}


def _files(paths: Sequence[str]) -> list[str]:
    """The files at `paths` and in folders there, without hidden ones."""
    found: list[Path] = []
    for path in map(Path, paths):
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    kept = (str(one) for one in found if one.is_file() and not one.name.startswith("."))
    return list(dict.fromkeys(kept))
