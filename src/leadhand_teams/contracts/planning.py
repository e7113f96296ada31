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

_COMPARE = "Find what was added, dropped, loosened or tightened in {1} since {0}"
_TASKS = {
    "find": ("clauses", "clauses", "Find the clauses of {0} and quote them"),
    "check": ("checks", "compliance", "Check {0} against the playbook"),
    "risk": ("risks", "risk", "Rank the risks of {0}, each with its clause and a question"),
}
"""By what is asked: the kind of task, its worker and its intent."""


def plan(request: PlanRequest, team: Team) -> Plan:
    """The tasks for the contracts that were handed in. Raises `InputError` if there are none."""
    del team
    paths = [path for one in request.batches.get("inputs", ()) for path in one.artifacts]
    every = (Path(path) for path, _, _ in stamps(paths))
    listed = dict.fromkeys(f"{one}" for one in every if one.is_file() and one.name[0] != ".")
    books = [path for path in listed if path.endswith((".yaml", ".yml"))]
    files = [path for path in listed if path not in books]
    used = Counter(Path(path).name for path in files)
    parts = {path: -2 if used[Path(path).name] > 1 else -1 for path in files}
    names = {path: "/".join(Path(path).parts[part:]) for path, part in parts.items()}
    found = {path: contract(path) for path in files}
    contracts = {path: one.kind for path, one in found.items() if not isinstance(one, str)}
    unread = {path: one for path, one in found.items() if isinstance(one, str)}
    left_out = [f"{names[path]} was not reviewed: {why}" for path, why in unread.items()]
    why = f" ({'; '.join(left_out)})" if left_out else ""
    if not contracts:
        raise InputError(f"no contract to review{why}: hand in PDF, DOCX or text files in English")
    if len(books) > 1:
        raise InputError(f"one playbook at a time, not {len(books)}: {', '.join(books)}")
    wanted = _wanted(request.text)
    pairs = versions([*contracts]) if "compare" in wanted else []
    if not pairs and len(contracts) == 2 and wording("compare").search(request.text):
        first, second = contracts
        pairs = [(first, second)]
    changes: dict[str, Task] = {}
    for before, after in pairs:
        job = Job(names=(names[before], names[after]))
        changes[after] = _task("changes", "risk", _COMPARE, [before, after], job)
    tasks = [*changes.values()]
    for path in (one for one in contracts if one not in dict(pairs)):
        book = _playbook(contracts[path], request.text, books)
        job = Job(
            names=(names[path],),
            categories=wanted.get("find", ()),
            playbook=book.name,
            roles=book.roles(request.text),
        )
        known = [changes[path].id] if path in changes else []
        for name, (kind, worker, intent) in _TASKS.items():
            if name in wanted:
                needed = [path, *books] if name == "check" else [path]
                after = known if name == "risk" else []
                tasks.append(_task(kind, worker, intent, needed, job, after))
                known += [tasks[-1].id] if name == "check" else []
    if not tasks:
        raise InputError(f"no earlier version to compare with{why}")
    return Plan(goal=request.text, tasks=tasks, instruction="\n".join(left_out))


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


def _task(
    kind: str, worker: str, intent: str, paths: Sequence[str], job: Job, after: Sequence[str] = ()
) -> Task:
    slug = re.sub(r"[^a-z0-9]+", "-", job.names[-1].lower()).strip("-")[:60]
    return Task(
        id=f"{kind}-{slug}",
        worker=worker,
        intent=intent.format(*job.names),
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
