"""`leadhand plan`: the tasks, the models, what it may cost; and no work is done."""

import asyncio
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from typer.testing import CliRunner

from leadhand.cli.app import app
from leadhand.cli.plan import planned
from leadhand.cli.views.consoles import DataConsole
from leadhand.cli.views.plan import show_plan
from leadhand.contracts.task import Limits, Plan, PlanRequest, Task
from leadhand.contracts.team import TaskTemplate, Team, Worker
from leadhand.errors import ModelError
from leadhand.models.estimate import estimate
from leadhand.supervisor import Supervisor
from leadhand.testing import ScriptedServer, run_virtual
from leadhand.testing.json_data import Json
from tests.cli.program import leadhand
from tests.cli.support_team import support_team
from tests.plans.samples import nothing, plan, plans, task
from tests.programs import Ended
from tests.scripted_server import start_over
from tests.team_folders import worker, write_team

ROOT = Path(__file__).parent.parent.parent
REQUEST = "Say why customers are charged twice"


def shown(*arguments: str, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """What `leadhand plan ARGUMENTS` does where the tests' functions can be imported."""
    clean = {"PYTHONPATH": str(ROOT), "LEADHAND_MODEL": "none"}
    return leadhand("plan", *arguments, folder=folder, env={**clean, **(env or {})})


def heads(*tasks: Task) -> list[str]:
    """The line of each task."""
    return [line for line in page(plan(*tasks)) if line.startswith("● ")]


def test_each_task_says_what_it_waits_for() -> None:
    tasks = (task("d", "b", "c"), task("a"), task("b", "a"), task("c", "a"))
    assert [line.split()[1::3] for line in heads(*tasks)] == [
        ["a"], ["b", "after"], ["c", "after"], ["d", "after"],
    ]  # fmt: skip
    assert heads(*tasks)[-1].endswith("  after b, c")
    many = [task(f"p{number}") for number in range(12)]
    end = task("end", *(one.id for one in many))
    assert "after p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more" in " ".join(
        " ".join(page(plan(*many, end), width=60)).split()
    )


def test_a_terminal_without_the_marks_is_served_too() -> None:
    lines = page(plan(task("a"), task("b", "a")), encoding="ascii")
    assert [line[:3] for line in lines if line[:1] == "*"] == ["* a", "* b"]


@given(plans())
def test_every_task_is_shown_once_after_all_that_it_needs(the_plan: Plan) -> None:
    lines = page(the_plan, width=200)
    shown = [line.split()[1] for line in lines if line.startswith("● ")]
    assert sorted(shown) == sorted(one.id for one in the_plan.tasks)
    place = {id: number for number, id in enumerate(shown)}
    needs = [(needed, one.id) for one in the_plan.tasks for needed in one.depends_on]
    assert all(place[needed] < place[id] for needed, id in needs)


def page(the_plan: Plan, *, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """The lines that a plan is shown in."""
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding=encoding, errors="backslashreplace", newline="\n")
    console = DataConsole(stream, width=width)
    show_plan(the_plan, console, models={"worker": "openai:gpt-5-mini"})
    console.file.flush()
    return out.getvalue().decode(encoding).splitlines()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_fifty_tasks_fit_the_terminal_and_each_says_what_it_is_for(width: int) -> None:
    fan = [task(f"part-{number}") for number in range(49)]
    lines = page(plan(*fan, task("end", *(one.id for one in fan))), width=width)
    assert max(map(len, lines)) <= min(width, 100)
    text = " ".join(" ".join(lines).split())
    assert all(f"{one.id} worker openai:gpt-5-mini {one.intent}" in text for one in fan)
    assert text.index("● end") > text.index("part-48")


def test_f34_nothing_in_a_plan_reaches_the_terminal_raw() -> None:
    """F34"""
    evil = Task(id="a\x1b]0;t\x07", worker="w", intent="look\x1b[2J at [bold]it[/]", done_when="\r")
    for encoding in ("utf-8", "ascii"):
        text = "\n".join(page(Plan(goal="go\u202e", tasks=(evil,)), encoding=encoding))
        assert "a\\x1b]0;t\\x07" in text
        assert "[bold]it[/]" in text
        assert not any(ord(character) < 32 and character != "\n" for character in text)


def test_a_plan_without_a_model_costs_nothing_and_does_no_work(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find", "fail")
    ended = shown(REQUEST, "--team", str(team), folder=tmp_path)
    assert ended.status == 0
    assert ended.out.splitlines() == [
        REQUEST,
        "2 tasks for 2 workers",
        "",
        "● fail",
        f"  {REQUEST}",
        "● find",
        f"  {REQUEST}",
        "",
        "then the results are put together",
        "costs nothing: no model is used",
    ]


def test_a_plan_by_a_model_costs_one_call_and_can_be_run_as_it_is(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    team = support_team(tmp_path, "find", "attack", "fail")
    env = {**scripted.env(), "LEADHAND_MODEL": ""}
    ended = shown(REQUEST, "--team", str(team), "--out", "plan.json", folder=tmp_path, env=env)
    assert ended.status == 0, ended.err
    assert scripted.stats().requests == 1
    assert ended.out.splitlines()[-1] == (
        "cost unknown: no known price of openai-chat:scripted; 4 calls"
    )
    assert "t1  attack  openai-chat:scripted" in ended.out
    written = Plan.model_validate_json((tmp_path / "plan.json").read_bytes())
    run = leadhand(
        "run", "--plan", "plan.json", "--team", str(team), "--no-model", "--json", "-q",
        folder=tmp_path, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert [one["id"] for one in json.loads(run.out)["tasks"]] == [one.id for one in written.tasks]


def test_the_plan_of_a_team_with_a_factory_counts_the_workers_that_it_makes(
    tmp_path: Path, model_server: ScriptedServer
) -> None:
    start_over(model_server)
    folder = tmp_path / "made"
    folder.mkdir()
    text = "name: made\nmodel: openai-chat:scripted\nworker_factory: [calculate]\n"
    (folder / "team.yaml").write_text(text)
    ended = CliRunner().invoke(app, ["plan", REQUEST, "--team", str(folder)])
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert "● t1  worker  openai-chat:scripted" in lines
    assert "1 worker made for this plan" in lines
    assert "    no tools · openai-chat:scripted" in lines
    assert lines[-1] == "cost unknown: no known price of openai-chat:scripted; 1 call"


def test_the_plan_of_a_stepwise_team_says_that_it_is_only_the_first_round(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    find = worker("description: Does the part called find\ninstructions: Find it.")
    team = write_team(tmp_path / "steps", "name: steps\nplanner: stepwise\n", find=find)
    env = {**scripted.env(), "LEADHAND_MODEL": ""}
    asked = (REQUEST, "--team", str(team), "--out", "plan.json", "--budget-tokens", "90000")
    lines = shown(*asked, folder=tmp_path, env=env).out.splitlines()
    assert "then the planner decides what is next, in at most 12 rounds in all" in lines
    assert lines[-1] == (
        "cost unknown: no known price of openai-chat:scripted; 2 calls; the budget is 90,000 "
        "tokens; that is round 1 and one more decision: later rounds cost more, up to the limit of "
        "12 rounds and the budget"
    )
    assert json.loads((tmp_path / "plan.json").read_bytes())["max_rounds"] == 12
    unlimited = shown(*asked[:-2], folder=tmp_path, env=env).out.splitlines()[-1]
    assert unlimited.endswith("up to the limit of 12 rounds: no budget is set")
    run = leadhand(
        "run", "--plan", "plan.json", "--team", str(team), "--json",
        folder=tmp_path, env={"PYTHONPATH": str(ROOT), **env},
    )  # fmt: skip
    assert [one["id"] for one in json.loads(run.out)["tasks"]] == ["t1"]
    assert "only the first round: its planner is not asked what is next" in run.err


def test_the_plan_of_a_recursive_team_says_that_nested_plans_are_not_known(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    tasks: list[Json] = [
        {"id": id, "worker": "find", "intent": f"Find part {id}", "break_down": id == "a"}
        for id in "ab"
    ]
    scripted.configure(script=[{"match": {"role": "planner"}, "reply": {"json": {"tasks": tasks}}}])
    find = worker("description: Does the part called find\ninstructions: Find it.")
    team = write_team(tmp_path / "levels", "name: levels\nplanner: recursive\n", find=find)
    env = {**scripted.env(), "LEADHAND_MODEL": ""}
    lines = shown(REQUEST, "--team", str(team), folder=tmp_path, env=env).out.splitlines()
    assert any("a  subplanner" in line for line in lines)
    assert lines[-1] == (
        "cost unknown: no known price of openai-chat:scripted; 4 calls; 1 nested plan is not known "
        "yet: assumed is one task for each worker and no deeper plan, the limit is 200 tasks in all"
    )


class Late:
    """A planner that thinks for ever."""

    name = "late"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """No plan."""
        await asyncio.sleep(1e9)
        raise AssertionError


def late(*template: TaskTemplate) -> Supervisor:
    """The supervisor of a team with that template, whose planner is too late."""
    the_team = Team("t", workers=(Worker("worker", "d", run=nothing),), template=template)
    return Supervisor(the_team, planner=Late(), deadline_s=3)


def test_a_planner_that_is_too_late_leaves_it_to_the_template_as_in_a_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    entry = TaskTemplate(id="only", worker="worker", intent="do it")
    made = run_virtual(planned(late(entry), REQUEST, ()))
    assert [one.id for one in made.tasks] == ["only"]
    said = "planned by the team's template, because the planner gave no plan within 3 s"
    assert said in capsys.readouterr().err


def test_without_a_template_a_late_planner_is_one_line_that_says_what_to_do() -> None:
    with pytest.raises(ModelError, match=r"no plan within 3 s; give it more time with --deadline"):
        run_virtual(planned(late(), REQUEST, ()))


def test_a_plan_as_json_is_the_plan_alone(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find")
    ended = shown(REQUEST, "--team", str(team), "--json", folder=tmp_path)
    assert [one.worker for one in Plan.model_validate_json(ended.out).tasks] == ["find"]


def test_a_plan_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    team = support_team(tmp_path, "find")
    ended = shown(REQUEST, "--team", str(team), "--out", "no/such/p.json", "-q", folder=tmp_path)
    assert ended.status == 2
    assert ended.err == (
        "leadhand: can't write the plan to no/such/p.json: "
        "its folder does not exist or can't be written\n"
    )


def a_tool() -> str:
    """A tool."""
    return ""


PRICED = Team(
    "t",
    workers=(
        Worker("plain", "Writes", instructions="Write."),
        Worker("tooled", "Looks", tools=(a_tool,), limits=Limits(max_steps=4)),
        Worker("code", "Counts", run=len),
    ),
    model="openai:gpt-6.1-terra",
)


@pytest.fixture
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("LEADHAND_LOOPBACK_ONLY", raising=False)


@pytest.mark.usefixtures("a_key")
def test_the_cost_is_a_range_from_one_call_a_task_to_all_its_steps() -> None:
    one = asyncio.run(estimate(plan(task("a", worker="plain")), PRICED))
    assert (one.calls.low, one.calls.high) == (1, 1)
    assert one.cost_usd is not None
    assert 0 < one.cost_usd[0] < one.cost_usd[1] < 0.1
    both = plan(task("a", worker="plain"), task("b", worker="tooled"), task("c", worker="code"))
    more = asyncio.run(estimate(both, PRICED))
    assert (more.calls.low, more.calls.high) == (3, 6)
    assert more.cost_usd is not None
    assert more.cost_usd[1] > 2 * one.cost_usd[1]
    assert "1 to 4 calls a task" in more.assumption


@pytest.mark.usefixtures("a_key")
def test_an_unknown_price_makes_the_whole_unknown_and_code_costs_nothing() -> None:
    team = Team("t", workers=PRICED.workers, model="openai:nobody-knows-this-one")
    unknown = asyncio.run(estimate(plan(task("a", worker="plain")), team))
    assert unknown.cost_usd is None
    assert unknown.unpriced == ("openai:nobody-knows-this-one",)
    free = asyncio.run(estimate(plan(task("a", worker="code")), team))
    assert (free.calls.high, free.cost_usd) == (0, (0.0, 0.0))
