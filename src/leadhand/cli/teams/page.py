"""A team for people, under the names that its files use, without what is as in every other team."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from leadhand.cli.teams.document import Data, document, schema_line, worker_document
from leadhand.cli.views.consoles import MAX_WIDTH
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import code_name
from leadhand.contracts.team import Team, Worker
from leadhand.contracts.tools import may_start_early
from leadhand.plans import graph
from leadhand.tools.text import counted

_USUAL_TEAM, _USUAL_WORKER = document(Team("any")), worker_document(Worker("any", ""))
_EMPTY = ("", "false", "null")
_ONLY_AS_JSON = ("done_when", "instructions", "offline", "read_only")


def team_page(team: Team, width: int) -> Group:
    def rows(of: Iterable[tuple[str, Iterable[Text]]]) -> Table:
        table = Table.grid(padding=(0, 2))
        # Names get at most a third of the page, however long they are.
        table.add_column(overflow="fold", max_width=min(width, MAX_WIDTH) // 3)
        table.add_column(overflow="fold")
        for name, lines in of:
            table.add_row(Text(safe(name), "cyan"), Group(*lines))
        return table

    sections: dict[str, RenderableType] = {}
    if team.workers:
        workers = ((one.name, _worker(one)) for one in team.workers)
        sections[counted(len(team.workers), "worker")] = rows(workers)
    if team.template:
        title = f"plan of {counted(len(team.template), 'entry')}"
        at_once = len(team.template) > 1 and not any(one.depends_on for one in team.template)
        sections[f"{title}, all at once" if at_once else title] = rows(_plan(team))
    else:
        rounds = counted(team.planner.max_rounds, "round")
        words = KINDS[team.planner.kind].plan_words.format(max_rounds=rounds)
        if team.planner.run is not None:
            words = f"by {code_name(team.planner)}, with or without a model"
        sections["plan"] = words if team.workers else "each by its planner's model"
    sections["rules"] = rows(_rules(team))
    parts: list[RenderableType] = [Text(safe(team.name), "bold")]
    parts += [Text(sentence(team.description))] if team.description else []
    for title, content in sections.items():
        parts += [Text(), Text(title, "bold"), Padding(content, (0, 0, 0, 2))]
    return Group(*parts)


def _worker(worker: Worker) -> list[Text]:
    data = worker_document(worker) | {
        "name": _USUAL_WORKER["name"],
        "description": _USUAL_WORKER["description"],
        "input": schema_line(worker.input),
        "output": schema_line(worker.output),
        "team": worker.team and [one.name for one in worker.team.workers],
    }
    facts = [] if worker.tools or worker.team is not None else ["no tools"]
    return _lines(worker.description, [*facts, *_facts(data, _USUAL_WORKER)])


def _plan(team: Team) -> Iterator[tuple[str, list[Text]]]:
    by_id = {entry.id: entry for entry in team.template}
    for id in graph.order(team.template):
        entry = by_id[id]
        data = vars(entry) | {"limits": entry.limits.model_dump()}
        beside = {name: value for name, value in data.items() if value not in (id, entry.intent)}
        yield id, _lines(entry.intent, _facts(beside, {}))


def _rules(team: Team) -> Iterator[tuple[str, list[Text]]]:
    data = document(team) | {"output": schema_line(team.output)}
    if team.early_start:
        early = [worker.name for worker in team.workers if may_start_early(worker, team)]
        data["early_start"] = f"tasks for {', '.join(early) or 'no worker'}"
    models = {_said(names) for names in _data(data["models"]).values()}
    if len(models) == 1:
        data["models"] = f"{models.pop()} for every tier"
    _data(data["planner"])["template"] = []
    for name, value in data.items():
        if name == "ladder":
            lines = _ladder(_data(value))
        elif name in ("name", "description", "workers") or value == _USUAL_TEAM[name]:
            continue
        elif name == "rates":
            lines = _facts(_data(value), {})
        elif isinstance(value, list | tuple):
            lines = map(_said, cast("Sequence[object]", value))
        else:
            lines = [_said(value, _USUAL_TEAM[name])]
        yield name, [Text(sentence(line)) for line in lines]


def _ladder(ladder: Data) -> Iterator[str]:
    """What is tried after each outcome. After a single attempt its result can still be accepted."""
    for name, value in ladder.items():
        if name == "backoff_s" or not isinstance(value, tuple):
            yield f"{name}: {_said(value)}"
            continue
        once = ladder["max_attempts"] == 1
        rungs = [one for one in cast("Sequence[object]", value) if not once or one == "accept"]
        if rungs:
            yield f"{name}: {_said([*rungs, 'give up'])}"


def _lines(said: str, facts: Iterable[str]) -> list[Text]:
    line = Text(sentence(" · ".join(facts)), "dim")
    return [Text(sentence(said)), *([line] if line else [])]


def _facts(data: Mapping[str, object], usual: Mapping[str, object]) -> Iterator[str]:
    """What differs from `usual`, or is not empty where that says nothing."""
    for name, value in data.items():
        if name == "limits":
            yield from _facts(_data(value), {})
        elif name not in _ONLY_AS_JSON and value != usual.get(name):
            said = _said(value)
            if name in usual or said not in _EMPTY:
                yield f"{name}: {said}"


def _said(value: object, usual: object = None) -> str:
    """A value on one line; of a mapping, what is not `usual`."""
    if isinstance(value, Mapping):
        data = cast("Data", value)
        own = ["own instructions"] if data.get("instructions") else []
        return " · ".join([*_facts(data, _data(usual or {})), *own])
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, cast("Sequence[object]", value)))
    if isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


def _data(value: object) -> Data:
    return cast("Data", value)
