"""What the tools of a team's workers are like: shared, or read-only. Pure."""

from collections.abc import Iterator

from leadhand.contracts.context import ToolEntry, unwrapped
from leadhand.contracts.team import Team, Worker


def tools_of(worker: Worker) -> Iterator[ToolEntry]:
    for tool in worker.tools:
        yield from unwrapped(tool)


def is_read_only(worker: Worker) -> bool:
    """Whether a worker's work changes nothing outside the run, as far as that is known."""
    if worker.read_only is not None:
        return worker.read_only
    if worker.team is not None:
        return all(is_read_only(inner) for inner in worker.team.workers)
    code = worker.run is not None or worker.offline is not None
    # A name is that of a ready-made tool, and these only read.
    return not code and all(isinstance(tool, str) for tool in worker.tools)


def may_start_early(worker: Worker, team: Team) -> bool:
    """Whether a task of `worker` may start before there is a plan: it and all that may take it
    over unasked are read-only."""
    others = (
        one
        for one in team.workers
        if one.name == worker.fallback or (worker.role is not None and one.role == worker.role)
    )
    return is_read_only(worker) and all(map(is_read_only, others))


def sharing_problems(team: Team) -> Iterator[str]:
    """Tools that more than one worker has, under the same or another name."""
    named: dict[str, set[str]] = {}
    same: dict[object, list[tuple[str, ToolEntry]]] = {}
    for worker in team.workers:
        for one in tools_of(worker):
            if one.name is not None:
                named.setdefault(one.name, set()).add(worker.name)
            if not isinstance(one.thing, str):
                same.setdefault(one.key, []).append((worker.name, one))
    allowed = {*team.shared_tools}
    marked = {
        one.name
        for found in same.values()
        for _, one in found
        if allowed & {*one.ids} and one.name is not None
    }
    refused: set[str] = set()
    for name, owners in named.items():
        if len(owners) > 1 and name not in allowed | marked:
            refused.add(name)
            yield _sharing(owners, f"the tool {name!r}", "name it")
    for found in same.values():
        owners = {owner for owner, _ in found}
        free = all(one.name in allowed or allowed & {*one.ids} for _, one in found)
        if len(owners) > 1 and not free and not {one.name for _, one in found} & refused:
            _, one = found[0]
            how = "name it" if one.name else "name its id" if one.ids else "give it an id to name"
            yield _sharing(owners, one.label, how)


def _sharing(owners: set[str], what: str, how: str) -> str:
    return (
        f"workers {' and '.join(sorted(owners))} share {what}: give it to one of them, or {how} in "
        "the team's `shared_tools`"
    )
