"""`leadhand teams`: lists the ready-made teams, shows one, checks a folder, makes a new one.

Prints and nothing else; what a team is and what is wrong with it is known to the loader.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from leadhand import graph
from leadhand.cli.team_document import document, model_name, name_of, output_name
from leadhand.cli.terminal import encodable, safe, sentence
from leadhand.contracts.task import Limits
from leadhand.contracts.team import RetryRules, Role, TaskTemplate, Team, Worker
from leadhand.nesting import nested_teams
from leadhand.teams.loader import inspect, load, ready_made, summary
from leadhand.teams.scaffold import create

_REQUEST = "I was charged twice and the app crashes"
"""Something that the team of `teams new` can answer."""
MAX_WIDTH = 100
"""Wider terminals don't get longer lines."""


def list_teams(console: Console) -> None:
    """Print the ready-made teams: name, number of workers, description."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for source in ready_made():
        team = summary(source)
        table.add_row(
            _text(console, safe(team.name), "bold"),
            _text(console, _counted(team.workers, "worker")),
            _text(console, sentence(team.description)),
        )
    _print(console, table)


def show_team(name: str, console: Console, as_json: bool = False) -> None:
    """Print the ready-made team `name`, or the team in the folder `name`.

    Raises `InputError` where there is no such team, `TeamError` where it has problems.
    """
    team = load(name)
    if as_json:
        console.out(json.dumps(document(team), indent=2), highlight=False)
    else:
        _print(console, _Page(team, console).group())


def check_team(folder: Path, console: Console) -> bool:
    """Print every problem and warning of the team in `folder`, one a line; true: it can be used.

    Raises `InputError` where there is no such folder.
    """
    team, problems, warnings = inspect(folder)
    for label, style, lines in (("problem", "red", problems), ("warning", "yellow", warnings)):
        for line in lines:
            _line(console, Text.assemble((label, style), "  ", _text(console, sentence(line))))
    if team is None:
        found = _counted(len(problems), "problem")
        more = f", {_counted(len(warnings), 'warning')}" if warnings else ""
        _line(console, _text(console, f"{found}{more}: this team can't be used yet", "bold"))
        return False
    end = f", {_counted(len(warnings), 'warning')}" if warnings else ""
    needs_model = any(
        worker.run is None and worker.offline is None and worker.team is None
        for one in (team, *(nesting.team for nesting in nested_teams(team)))
        for worker in one.workers
    )
    how = " with a model" if needs_model else ""
    size = _counted(len(team.workers), "worker")
    told = f"team {safe(team.name)!r} can be used{how}: {size}{end}"
    _line(console, _text(console, told, "bold"))
    return True


def new_team(folder: Path, console: Console) -> None:
    """Make a small working team in `folder` and print what to do with it.

    Raises `InputError` where there is something already, or nothing can be written.
    """
    create(folder)
    # A ready-made team of that name would be taken before the folder.
    given = f"./{folder}" if str(folder) in ready_made() else str(folder)
    shown = shlex.quote(safe(given))
    _line(console, _text(console, f"made a team in {safe(given)}", "bold"))
    for command, what in (
        (f"leadhand teams check {shown}", "what leadhand makes of it"),
        (f"leadhand run {shlex.quote(_REQUEST)} --team {shown}", "try it, with a model or without"),
    ):
        _line(console, Text.assemble("  ", _text(console, command, "cyan"), f"  # {what}"))


class _Page:
    """Lays a team out for a person."""

    def __init__(self, team: Team, console: Console) -> None:
        self._team = team
        self._console = console

    def group(self) -> Group:
        """Everything there is to show, from top to bottom."""
        team = self._team
        parts: list[RenderableType] = [self._text(safe(team.name), "bold")]
        if team.description:
            parts.append(self._text(sentence(team.description)))
        workers = self._rows([(worker.name, self._worker(worker)) for worker in team.workers])
        parts += [Text(), self._text(_counted(len(team.workers), "worker"), "bold"), workers]
        parts += [Text(), *self._plan(), Text(), self._text("rules", "bold")]
        parts.append(self._rows([(name, [self._text(rule)]) for name, rule in _rules(team)]))
        return Group(*parts)

    def _text(self, content: str, style: str = "") -> Text:
        return _text(self._console, content, style)

    def _rows(self, rows: Sequence[tuple[str, list[Text]]]) -> Padding:
        table = Table.grid(padding=(0, 2))
        # Names get at most a third of the page, however long they are.
        table.add_column(overflow="fold", max_width=min(self._console.width, MAX_WIDTH) // 3)
        table.add_column(overflow="fold")
        for name, lines in rows:
            table.add_row(self._text(safe(name), "cyan"), Group(*lines))
        return Padding(table, (0, 0, 0, 2))

    def _worker(self, worker: Worker) -> list[Text]:
        tools = ", ".join(name_of(tool) for tool in worker.tools)
        facts = [f"tools: {tools}" if tools else "no tools", *_model(worker)]
        if worker.team is not None:
            names = ", ".join(inner.name for inner in worker.team.workers)
            facts = [f"a team of {_counted(len(worker.team.workers), 'worker')}: {names}"]
        if worker.output is not None:
            facts.append(f"output: {output_name(worker.output)}")
        if worker.min_confidence is not None:
            facts.append(f"confidence of {worker.min_confidence} or more")
        if worker.run is not None:
            facts.append(f"always by {name_of(worker.run)}")
        if worker.isolate == "process":
            facts.append("own process")
        facts += _limits(worker.limits)
        if worker.concurrency is not None:
            facts.append(f"{worker.concurrency} at once")
        if worker.fallback is not None:
            facts.append(f"fallback: {worker.fallback}")
        if worker.max_queue is not None:
            facts.append(f"which helps out over {_counted(worker.max_queue, 'waiting task')}")
        if worker.role is not None:
            facts.append(f"one of the role {worker.role}")
        said = self._text(sentence(worker.description))
        return [said, self._text(sentence(" · ".join(facts)), "dim")]

    def _plan(self) -> list[RenderableType]:
        team = self._team
        if not team.template:
            told = "without a template every worker gets one task, all at once"
            return [self._text("plan", "bold"), Padding(self._text(told), (0, 0, 0, 2))]
        by_id = {entry.id: entry for entry in team.template}
        entries = [by_id[id] for id in graph.order(team.template)]
        title = f"plan of {_counted(len(entries), 'entry')}"
        if not any(entry.depends_on for entry in entries):
            title += ", all at once" if len(entries) > 1 else ""
        rows = [(entry.id, self._entry(entry)) for entry in entries]
        return [self._text(title, "bold"), self._rows(rows)]

    def _entry(self, entry: TaskTemplate) -> list[Text]:
        facts: list[str] = []
        if entry.worker != entry.id:
            facts.append(f"by {entry.worker}")
        if entry.for_each is not None:
            facts.append(f"for each: {entry.for_each}")
        if entry.depends_on:
            facts.append(f"after {', '.join(entry.depends_on)}")
        if entry.tolerates_missing:
            facts.append("even where one of them gives nothing")
        facts += _limits(entry.limits)
        lines = [self._text(sentence(entry.intent))]
        return [*lines, self._text(sentence(" · ".join(facts)), "dim")] if facts else lines


def _rules(team: Team) -> list[tuple[str, str]]:
    own = " · ".join(_limits(team.limits))
    return [
        *_models(team),
        *_routes(team),
        ("limits", sentence(f"{own} a task" if own else "none but the run's own")),
        ("ladder", _ladder(team.retry)),
        ("synthesis", safe(team.synthesis)),
    ]


def _routes(team: Team) -> list[tuple[str, str]]:
    """Whose a request is, rule by rule."""
    rows: list[tuple[str, str]] = []
    for route in team.routes:
        when = [*route.words, *(f"#{label}" for label in route.labels)]
        when += [f"/{route.pattern}/"] if route.pattern else []
        said = f"{', '.join(when) or 'anything else'} to {route.worker}"
        said += f", then {route.secondary}" if route.secondary else ""
        rows.append(("route", sentence(said)))
    return rows


def _models(team: Team) -> list[tuple[str, str]]:
    """The models of the team and of its roles, where it says anything of them."""
    rows: list[tuple[str, str]] = []
    names = {
        tier: ", then ".join(model_name(spec) for spec in specs)
        for tier, specs in team.tiers.items()
    }
    if len(set(names.values())) == 1:
        rows.append(("models", sentence(f"{names['standard']} for every tier")))
    elif names:
        rows.append(("models", sentence(" · ".join(f"{t}: {name}" for t, name in names.items()))))
    usual = ("planner", "synthesizer", "judge")
    for name, role in team.roles.items():
        if role != Role() or name not in usual:
            rows.append((name, sentence(" · ".join(_role(role)))))
    return rows


def _role(role: Role) -> list[str]:
    facts = [f"model {model_name(role.model)}" if role.model is not None else f"tier {role.tier}"]
    facts += _settings(role.settings)
    if role.plain:
        facts.append("plain")
    if role.instructions:
        facts.append("own instructions")
    return facts


def _model(worker: Worker) -> list[str]:
    facts: list[str] = []
    if worker.model is not None:
        facts.append(f"model {model_name(worker.model)}")
    elif worker.tier is not None:
        facts.append(f"tier {worker.tier}")
    facts += _settings(worker.settings)
    if worker.plain:
        facts.append("plain")
    return facts


def _settings(settings: Mapping[str, JsonValue]) -> list[str]:
    return [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]


def _limits(limits: Limits) -> list[str]:
    facts: list[str] = []
    if limits.timeout_s is not None:
        facts.append(f"{limits.timeout_s:g} s")
    if limits.max_steps is not None:
        facts.append(_counted(limits.max_steps, "step"))
    if limits.max_tokens is not None:
        facts.append(_counted(limits.max_tokens, "token"))
    if limits.tier is not None:
        facts.append(f"tier {limits.tier}")
    return facts


def _ladder(retry: RetryRules) -> str:
    if retry.max_attempts == 1:
        return "1 attempt"
    last = len(retry.backoff_s) - 1
    waits = [f"{retry.backoff_s[min(n, last)]:g} s" for n in range(retry.max_attempts - 1)]
    shown = ", ".join(waits[:4]) + (", ..." if len(waits) > 4 else "")
    return f"{retry.max_attempts} attempts, with {shown} between them"


def _counted(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def _text(console: Console, content: str, style: str = "") -> Text:
    """Content that was made safe before, as the console's encoding can print it."""
    if not console.encoding.lower().replace("-", "").startswith("utf"):
        content = encodable(content.replace("·", "-"), console.encoding)
    return Text(content, style)


def _print(console: Console, content: RenderableType) -> None:
    width = min(console.width, MAX_WIDTH)
    console.print(content, width=width, highlight=False, emoji=False, markup=False)


def _line(console: Console, line: Text) -> None:
    """Print one line that is not broken, so that what reads it can go by lines."""
    console.print(line, soft_wrap=True, highlight=False, emoji=False, markup=False)
