"""Workers that a plan describes: the tools chosen for them, and what is wrong with them."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand import Limits, Plan, Role, Task, Team, Worker, WorkerFactory
from leadhand.contracts.task import PlannedWorker
from leadhand.planners.proposal import proposed
from leadhand.plans.checks import check, errors_in
from leadhand.plans.planned_workers import with_chosen_tools, with_planned_workers
from leadhand.plans.team_checks import team_problems
from leadhand.testing.json_data import Json, Object

READY_MADE = ["list_files", "search_files", "read_file", "query", "calculate", "search_web"]


def stock(metal: str) -> str:
    """Counts the tons of a metal in store."""
    return metal


def price(metal: str) -> str:
    """Gives the price of a metal."""
    return metal


def team(**options: object) -> Team:
    given = {"model": "openai:x", "workers": [Worker("a", "Knows a")], **options}
    given.setdefault("worker_factory", WorkerFactory([stock, price], max_workers=3))
    return Team("metals", **given)  # pyright: ignore[reportArgumentType]


def made(name: str = "made", *tools: str, **fields: object) -> PlannedWorker:
    given = {"description": "Counts tons", "instructions": "Count.", **fields}
    return PlannedWorker(name=name, tools=tools, **given)  # pyright: ignore[reportArgumentType]


def plan(*workers: PlannedWorker, unused: bool = False) -> Plan:
    """A plan in which each of these workers has a task."""
    names = ["a"] if unused else list(dict.fromkeys(one.name for one in workers))
    tasks = [
        Task(id=f"t{n}", worker=name, intent=f"Count part {n} of the tons")
        for n, name in enumerate(names)
    ]
    return Plan(goal="Count the tons", tasks=tasks, workers=workers)


def problems(of: Plan, by: Team | None = None) -> list[str]:
    return [problem.message for problem in check(of, by or team())]


@pytest.mark.parametrize(
    ("description", "tools"),
    [
        ("Searches the web for prices", ["search_web"]),
        ("Reads the files", ["read_file"]),
        ("READING FILES", ["read_file"]),
        ("Searches files and the web", ["search_files", "search_web"]),
        ("Answers a SQL query and computes sums", ["query", "calculate"]),
        ("Writes letters", []),
        ("", []),
    ],
)
def test_the_tools_of_a_description_are_the_smallest_set_that_has_its_words(
    description: str, tools: list[str]
) -> None:
    assert [*WorkerFactory(READY_MADE).tools_for(description)] == tools


def test_a_smaller_set_is_found_than_the_greedy_one() -> None:
    # By words covered: "all" has four of six, and needs two others; "left" and "right" have three.
    def left(one: str) -> str:
        """Anchor beacon cargo."""
        return one

    def right(one: str) -> str:
        """Dock engine ferry."""
        return one

    def every(one: str) -> str:
        """Anchor beacon dock engine."""
        return one

    factory = WorkerFactory([every, left, right])
    assert factory.tools_for("anchor beacon cargo dock engine ferry") == ("left", "right")


def test_only_workers_that_leave_their_tools_open_are_given_some() -> None:
    open_ones = PlannedWorker(name="p", description="Gives prices", instructions="Find it.")
    chosen = with_chosen_tools(plan(open_ones, made("n")), team())
    assert [one.tools for one in chosen.workers] == [("price",), ()]
    assert with_planned_workers(team(), chosen).worker("p") == Worker(
        "p", "Gives prices", instructions="Find it.", tools=[price]
    )


def test_a_sound_plan_has_no_problems() -> None:
    schema: Json = {"type": "object", "properties": {"pattern": {"type": "string"}}}
    sound = made("counter", "stock", tier="fast", output=schema)
    assert problems(plan(sound, made("other", "price"))) == []


def test_every_problem_of_described_workers_is_named_at_once() -> None:
    odd = made("Bad name\n", "stock", "shell", tier="huge", instructions=" ", output="text")
    rest = (made("A", "stock"), made("judge", "stock", description="x" * 400))
    *found, unknown = problems(plan(odd, *rest))
    assert "for 'Bad name\\n', who is not in team" in unknown
    assert found == [
        "a worker can't be called 'Bad name\\n': use up to 50 letters, digits, - and _, beginning "
        "with a letter or digit",
        "worker 'A' is in the team already: take it out of `workers`, its tasks stay",
        "a worker can't be called 'judge', which is reserved: choose another name",
        "worker 'Bad name\\n' has no instructions: say what it does, and for what it is not",
        "worker 'Bad name\\n' has the tool 'shell', which is not in the catalogue: there are "
        "stock, price",
        "worker 'Bad name\\n' has the tier 'huge': it may have fast, standard, strong",
        "worker 'Bad name\\n' has an output that can't be used: it must be a JSON Schema as an "
        "object, or null for text",
        "worker 'judge' has description of 400 characters and may have 300: shorten it",
        "workers A and judge share the tool 'stock': give it to one of them, or name it in the "
        "team's `shared_tools`",
    ]


@pytest.mark.parametrize("name", ["../../etc", "a/b", "x\x1b[2J", "-rf", "", "x" * 51, "tab\t"])
def test_a_name_that_is_no_word_is_refused_legibly(name: str) -> None:
    found = problems(plan(made(name)))
    assert found[0].startswith("a worker can't be called ")
    assert all(problem.isprintable() for problem in found)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ({"type": "strin"}, "is not JSON Schema"),
        ({"$ref": "https://example.com/x.json"}, "leave out `$ref`"),
        ({"$ref": "#"}, "leave out `$ref`"),
        ({"items": [{"$dynamicRef": "#a"}]}, "leave out `$dynamicRef`"),
        ({"properties": {"x": {"pattern": "(a+)+$"}}}, "leave out `pattern`"),
        ({"$schema": {}}, "leave out `$schema`"),
        ({"title": "x" * 20_000}, "is longer than 10,000 characters"),
        ([1], "it must be a JSON Schema as an object"),
    ],
)
def test_an_output_that_no_result_can_be_checked_by_is_refused(output: Json, why: str) -> None:
    (problem,) = problems(plan(made(output=output)))
    assert why in problem


def test_a_schema_nested_without_end_is_refused() -> None:
    deep: Object = {}
    for _ in range(150):
        deep = {"not": deep}
    (problem,) = problems(plan(made(output=deep)))
    assert "simplify it" in problem


def test_workers_are_limited_in_number_in_tools_and_in_words() -> None:
    many = [made(f"w{n}") for n in range(1_000)]
    assert problems(plan(*many)) == [
        "the plan describes 1,000 workers and may describe 3: give one worker several tasks, or "
        "merge workers"
    ]
    (tools, *_) = problems(plan(made("w", *(f"t{n}" for n in range(500)))))
    assert tools == "worker 'w' has 500 tools and may have 12: give it those that it needs"
    (words,) = problems(plan(made(instructions="x" * 100_000)))
    assert "has instructions of 100,000 characters and may have 8,000" in words


def test_a_worker_without_a_task_and_one_described_twice_are_refused() -> None:
    unused = plan(made(), unused=True)
    assert problems(unused) == ["worker 'made' has no task: give it one, or leave it out"]
    assert errors_in(check(unused, team())) == []
    assert len(errors_in(check(unused, team(), author="model"))) == 1
    assert problems(plan(made(), made("Made"))) == [
        "more than one worker is called 'Made': give each its own name"
    ]


def test_a_shared_tool_may_be_given_to_several_workers() -> None:
    both = plan(made("x", "stock"), made("y", "stock"))
    assert "share the tool 'stock'" in problems(both)[0]
    shared = WorkerFactory([stock, price], shared_tools=["stock"])
    assert problems(both, team(worker_factory=shared)) == []


def test_a_worker_starts_with_an_allowed_tier() -> None:
    of = team(worker_factory=WorkerFactory([stock], tiers=["fast"]))
    of_strong = dataclasses.replace(of, limits=Limits(tier="fast"))
    found = [with_planned_workers(one, plan(made())).workers[1].tier for one in (of, of_strong)]
    assert found == ["fast", None]
    asks = plan(made())
    task = asks.tasks[0].model_copy(update={"limits": Limits(tier="strong")})
    assert problems(asks.model_copy(update={"tasks": (task,)}), of) == [
        "task 't0' asks for the tier 'strong': 'made' may have fast"
    ]


def test_a_team_without_a_factory_makes_no_workers() -> None:
    (first, second) = problems(plan(made()), team(worker_factory=None))
    assert first == (
        "the plan describes workers, and team 'metals' has no `worker_factory` to make them: leave "
        "out `workers`, or give the team one"
    )
    assert "for 'made', who is not in team 'metals'" in second


@pytest.mark.parametrize("kind", ["stepwise", "routed", "template"])
def test_a_factory_is_for_plans_made_ahead(kind: str) -> None:
    (problem,) = team_problems(team(planner=kind))
    assert problem == (
        f"planner kind {kind!r} makes no workers for its plans: use `ahead` or `recursive`, "
        "or leave out `worker_factory`"
    )
    assert team_problems(team(planner="ahead")) == team_problems(team(planner="recursive")) == ()


def test_a_catalogue_that_can_not_be_granted_is_a_problem_of_the_team() -> None:
    class Shelf:
        """A toolset without an id."""

        async def get_tools(self) -> None: ...
        async def call_tool(self) -> None: ...

    owner = Worker("a", "Knows a", tools=[price])
    factory = WorkerFactory([stock, stock, price, Shelf(), "grep"], shared_tools=["other"])
    found = team_problems(
        team(workers=[owner], worker_factory=factory, planner=Role(plain=True, instructions="P"))
    )
    assert [*found] == [
        "the planner is plain and can't describe workers: leave out `worker_factory`",
        "the worker factory can't grant a Shelf by name: give it an `id`",
        "the worker factory has more than one tool called 'stock': rename one",
        "the worker factory has no ready-made tool 'grep': there are list_files, "
        "search_files, read_file, list_tables, query, calculate, search_web, read_page",
        "the worker factory shares 'other', which is not in its catalogue",
        "workers a and the worker factory share the tool 'price': give it to one of them, or name "
        "it in the team's `shared_tools`",
    ]


def test_a_team_of_made_workers_alone_needs_a_model() -> None:
    assert team_problems(team(workers=[])) == ()
    assert team_problems(team(workers=[], router=Role())) == (
        "the router has no worker to choose: leave it out, or add workers to the team",
    )
    (problem,) = team_problems(team(workers=[], model=None))
    assert problem.startswith("worker 'the worker factory' needs a model, and there is none")


_NAMES = st.sampled_from(["a", "stock"])
_KEYS = st.text(max_size=5)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | _NAMES,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(_KEYS, part, max_size=3),
    max_leaves=10,
)
FIELDS = ("name", "description", "instructions", "tools", "tier", "output")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ODD) | ODD, max_size=3) | ODD)
def test_whatever_a_model_describes_is_a_plan_with_problems_or_none(workers: Json) -> None:
    task: Object = {"id": "t", "worker": "a", "intent": "Count the tons of copper"}
    found = proposed({"workers": workers, "tasks": [task]}, "Count", team())
    if isinstance(found, Plan):
        problems = check(found, team(), author="model")
        assert bool(found.workers) <= bool(problems)  # no task is for them
        assert Plan.model_validate_json(found.model_dump_json()) == found
        granted = with_planned_workers(team(), found).workers[1:]
        assert all({*one.tools} <= {stock, price} for one in granted)
    else:
        assert found
