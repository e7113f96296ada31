"""Plans a review: one task a contract and question; none that the request does not need."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from leadhand import Plan, Task, Team
from leadhand.errors import InputError
from leadhand.extension.roles import PlanRequest
from leadhand_teams.contracts.clauses import asked
from leadhand_teams.contracts.documents import contract
from leadhand_teams.contracts.playbook import PACKAGED, Playbook, handed_in, ready_made
from leadhand_teams.contracts.wording import wording
from leadhand_teams.contracts.work import Job
from leadhand_teams.shared.reading import stamps


def plan(request: PlanRequest, team: Team) -> Plan:
    """The tasks for the contracts that were handed in. Raises `InputError` if there are none."""
    del team
    paths = [path for one in request.batches.get("inputs", ()) for path in one.artifacts]
    every = (Path(path) for path, _, _ in stamps(paths))
    listed = dict.fromkeys(f"{one}" for one in every if one.is_file() and one.name[0] != ".")
    books = [path for path in listed if path.endswith((".yaml", ".yml"))]
    contracts = [path for path in listed if path not in books]
    if not contracts:
        raise InputError("no contract to read: hand in PDF, DOCX or text files")
    if len(books) > 1:
        raise InputError(f"one playbook at a time, not {len(books)}: {', '.join(books)}")
    wanted = _wanted(request.text)
    pairs = versions(contracts) if "compare" in wanted else []
    if not pairs and len(contracts) == 2 and wording("compare").search(request.text):
        pairs = [(contracts[0], contracts[1])]
    used = Counter(Path(path).name for path in contracts)
    parts = {path: -2 if used[Path(path).name] > 1 else -1 for path in contracts}
    names = {path: "/".join(Path(path).parts[part:]) for path, part in parts.items()}
    tasks: list[Task] = []
    for path in (one for one in contracts if one not in dict(pairs)):
        tasks += _tasks(path, names[path], wanted, request.text, books)
    for before, after in pairs:
        job = Job(names=(names[before], names[after]))
        old, new = job.names
        intent = f"Find what was added, dropped, loosened or tightened in {new} since {old}"
        tasks.append(_task("changes", "risk", intent, [before, after], job))
    return Plan(goal=request.text, tasks=tasks)


def _wanted(request: str) -> Mapping[str, tuple[str, ...]]:
    """What a request asks for: `find` with its categories (none: all), `check`, `risk`, `compare`.
    All of it if its words do not say."""
    every: dict[str, tuple[str, ...]] = dict.fromkeys(("find", "check", "risk", "compare"), ())
    named = asked(request)
    wanted = {name for name in every if wording(name).search(request)}
    wanted |= {"find"} if named else set()
    if not wanted or wording("review").search(request):
        return every
    if wanted == {"find"}:
        return {"find": named}
    wanted = wanted | {"find", "check"} if "risk" in wanted else wanted - {"find"}
    return {name: () for name in every if name in wanted}


def _tasks(
    path: str, name: str, wanted: Mapping[str, Sequence[str]], request: str, books: Sequence[str]
) -> list[Task]:
    tasks: list[Task] = []
    found = contract(path)
    if "find" in wanted or isinstance(found, str):  # the task says why it can't be read
        job = Job(names=(name,), categories=tuple(wanted.get("find", ())))
        intent = f"Find the clauses of {name} and quote them: {', '.join(job.categories) or 'all'}"
        tasks.append(_task("clauses", "clauses", intent, [path], job))
    if isinstance(found, str):
        return tasks
    book = _playbook(found.kind, request, books)
    job = Job(names=(name,), playbook=book.name, roles=book.roles(request))
    if "check" in wanted:
        intent = f"Check {name} against the playbook {book.name}, for the {job.roles['side']}"
        tasks.append(_task("checks", "compliance", intent, [path, *books], job))
    if "risk" in wanted:
        intent = f"Rank the risks of {name}, each with its clause and the question for the lawyer"
        after = [task.id for task in tasks if task.worker == "compliance"]
        tasks.append(_task("risks", "risk", intent, [path], job, after))
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


def _playbook(kind: str, request: str, books: Sequence[str]) -> Playbook:
    """The playbook that was handed in or named, else the one for this kind of contract."""
    if books:
        return handed_in(books[0])
    for name in PACKAGED:
        if re.search(rf"\bplaybook\W+(?:called\W+)?{name}\b|\b{name} playbook\b", request, re.I):
            return ready_made(name)
    return ready_made("commercial" if kind == "other" else kind)


def versions(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of an earlier and a later file whose names differ in their version only.

    Words such as `old` and `new` count before numbers.
    """
    groups: dict[str, list[tuple[int, list[int], str]]] = {}
    for path in paths:
        name = str(Path(path).with_suffix("")).replace("_", " ").lower()
        marks = " ".join(found.group() for found in wording("version").finditer(name))
        order = len(wording("late").findall(marks)) - len(wording("early").findall(marks))
        stem = " ".join(re.findall(r"[^\W_]+", wording("version").sub("", name)))
        version = (order, [int(digits) for digits in re.findall(r"\d+", marks)], path)
        groups.setdefault(stem, []).append(version)
    pairs = (pair for group in groups.values() for pair in pairwise(sorted(group)))
    return [(before, after) for (*_, before), (*_, after) in pairs]
