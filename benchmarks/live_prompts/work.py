"""Cases of plans and work: planners, decisions, routing, workers and their answers."""

from collections.abc import Callable, Iterable
from functools import partial

from benchmarks.live_prompts.case import Case, Lab
from benchmarks.live_prompts.teams import (
    CLERK,
    INVOICES,
    WORKERS,
    WRITER,
    Amounts,
    Meeting,
    Order,
    Ticket,
    office,
    reader,
)
from leadhand import Plan, Supervisor, Task, Worker, events
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.planner_kinds import PlannerKind, Round
from leadhand.contracts.task import Limits
from leadhand.contracts.team import RetryRules, Role, Team
from leadhand.errors import ModelError
from leadhand.planners.choosing import ModelChooser
from leadhand.planners.stepwise import ModelDecider

Needs = dict[str, int]
"""The workers that a request needs, and how many tasks each may get."""

PLANS: list[tuple[str, Needs, tuple[str, str] | None]] = [
    ("What were our sales in Germany in March?", {"analyst": 1}, None),
    ("Write a Python function that says whether a number is prime.", {"programmer": 1}, None),
    ("Compare the sales of March, April and May.", {"analyst": 3}, None),
    (
        "Find what our reports say about the delay of the plant in Lyon, and write a letter to "
        "customers about it.",
        {"researcher": 1, "writer": 1},
        ("researcher", "writer"),
    ),
    (
        "By how much did sales grow in France and in Spain in 2025, and which reasons do our "
        "reports give for it?",
        {"analyst": 2, "researcher": 2},
        None,
    ),
    ("Translate into German: The delivery will be two days late.", {"writer": 1}, None),
    ("This fails with a KeyError, fix it: d = {}; d['a'] += 1", {"programmer": 1}, None),
    (
        "Which product sold best last year? Write a post of three sentences about it.",
        {"analyst": 1, "writer": 1},
        ("analyst", "writer"),
    ),
    ("What does the audit report of 2024 say about the stores in Italy?", {"researcher": 1}, None),
    (
        "Compute the average order value by region for 2025, and write a Python function that "
        "reads such figures from a CSV file.",
        {"analyst": 1, "programmer": 1},
        None,
    ),
]
MORE_PLANS: list[tuple[str, Needs]] = [
    ("What were our sales in France in May?", {"analyst": 1}),
    (
        "What do our reports say about the strike in Turin, and how did sales in Italy develop?",
        {"researcher": 1, "analyst": 1},
    ),
    (
        "Compare what the reports say about our three suppliers Alba, Borg and Cato.",
        {"researcher": 3},
    ),
]
DESCRIBED: list[tuple[str, Needs]] = [
    ("What were our sales in France in May?", {"analyst": 1}),
    ("Translate into Polish: The shop is closed on Friday.", {"*": 1}),
    ("How many lamps are in stock? Write a post that announces a sale of them.", {"*": 2}),
]
ROUTED = [
    ("Our script crashes when the file is empty.", "programmer"),
    ("How much did we sell in April?", "analyst"),
    ("Please put this into French: Good morning.", "writer"),
]
CALLS = [
    ("What were the sales in Germany in March?", ("sales",), "41"),
    ("How many chairs are in stock?", ("stock",), "230"),
    ("When is the next public holiday in Japan?", ("holiday",), "3 May|May 3"),
    ("Are desks in stock? Say how many.", ("stock",), "0|no desks"),
    ("What were the sales in France in March?", ("sales",), "52"),
    ("By how many euros did German sales differ between March and April?", ("sales",), "2"),
    ("When is the next public holiday in Portugal?", ("holiday",), "25 April|April 25"),
    ("How many lamps and how many chairs are in stock?", ("stock",), "14"),
    ("Were sales in March higher in Germany or in France?", ("sales",), "France"),
    ("How many lamps are in stock, and when is the next holiday in Japan?", ("stock", "holiday"),
     "14"),
]  # fmt: skip
TYPED: list[tuple[object, str, Callable[[object], bool]]] = [
    (Order, "Read the order: Please send two lamps by express.",
     lambda it: _singular(it) == {"product": "lamp", "quantity": 2, "express": True}),
    (Order, "Read the order: I'd like 12 chairs, no hurry.",
     lambda it: _singular(it) == {"product": "chair", "quantity": 12, "express": False}),
    (Ticket, "Classify: I was charged twice, and I need the money back today!",
     lambda it: it == {"topic": "billing", "urgent": True}),
    (Ticket, "Classify: When will my parcel arrive? There is no hurry.",
     lambda it: it == {"topic": "delivery", "urgent": False}),
    (Meeting, "Read the meeting: Ada and Ben meet on 4 May 2026.",
     lambda it: _field(it, "people") == ["Ada", "Ben"]),
    (Amounts, "List the amounts: 12.50 euros for lunch and 40 euros for the train.",
     lambda it: it == {"amounts": [12.5, 40.0], "currency": "EUR"}),
    (list[str], "List the cities in: From Rome by way of Milan to Turin.",
     lambda it: it == ["Rome", "Milan", "Turin"]),
    (int, "How many words has this sentence: The cat sat on the mat", lambda it: it == 6),
    (bool, "Does this text mention a date: We open on 1 June.", lambda it: it is True),
    (Meeting, "Read the meeting: On 12 July 2026 Eva, Finn and Gul discuss the budget.",
     lambda it: _field(it, "people") == ["Eva", "Finn", "Gul"]),
]  # fmt: skip
TEXTS = [
    ("Thank a customer for an order of two lamps, in one sentence.", "lamp"),
    ("Say in one sentence that the shop is closed on 1 May.", "1 May|May 1"),
    ("Shorten to five words: The delivery of the ten desks will be late by two days.", "de"),
]
ESCALATIONS = [
    ("Which city is the capital of Norway?", "out_of_scope"),
    ("Invoice 17: chair, 80 euros. By which date does it have to be paid?", "ambiguous_input"),
    ("Write a poem about the sea.", "out_of_scope"),
]


def _singular(order: object) -> object:
    product = str(_field(order, "product")).removesuffix("s")
    return {**order, "product": product} if isinstance(order, dict) else order  # pyright: ignore[reportUnknownVariableType]


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _wrong_tasks(tasks: Iterable[Task], needs: Needs) -> str:
    """What is wrong with the choice of workers."""
    counts: dict[str, int] = {}
    for task in tasks:
        name = task.worker if "*" not in needs else "*"
        counts[name] = counts.get(name, 0) + 1
        if "4711" in task.intent or "PDF" in task.intent:
            return "copied from the example"
    if {*counts} != {*needs}:
        return "wrong workers"
    return "too many tasks" if any(counts[name] > needs[name] for name in needs) else ""


def wrong_plan(plan: Plan, needs: Needs, edge: tuple[str, str] | None) -> str:
    workers = {task.id: task.worker for task in plan.tasks}
    edges = [(workers.get(one), task.worker) for task in plan.tasks for one in task.depends_on]
    if wrong := _wrong_tasks(plan.tasks, needs):
        return wrong
    if plan.synthesis != "merge":
        return f"`{plan.synthesis}` instead of `merge`"
    if edge is not None and edge not in edges:
        return "a dependency is missing"
    return "a needless dependency" if edge is None and edges else ""


async def plan(
    lab: Lab, kind: PlannerKind, request: str, needs: Needs, edge: tuple[str, str] | None = None
) -> str:
    team = office(lab.model, kind)
    return wrong_plan(await Supervisor(team).plan(request), needs, edge)


async def plan_with_workers(lab: Lab, request: str, needs: Needs) -> str:
    made = await Supervisor(office(lab.model, describes_workers=True)).plan(request)
    own = {"*": needs["*"]} if "*" in needs else needs
    needless = "*" not in needs and made.workers
    return "a needless worker" if needless else _wrong_tasks(made.tasks, own)


async def route(lab: Lab, request: str, expected: str) -> str:
    chooser = ModelChooser(lab.caller, lab.fence, Role(), [lab.model])
    chosen = await chooser.choose(request, WORKERS)
    return "" if chosen == (expected,) else "wrong workers" if chosen else "it abstained"


def _done(id: str, worker: str, intent: str, output: str) -> TaskResult:
    result = Result(output=output, summary=output)
    return TaskResult(Task(id=id, worker=worker, intent=intent), worker, "completed", result, None)


MARCH = _done("march", "analyst", "Compute the sales in Germany in March", "41,200 euros")
DELAY = _done("delay", "researcher", "Find why the plant in Lyon is late", "A pump is missing.")
DECISIONS: list[tuple[str, tuple[TaskResult, ...], Needs]] = [
    ("What were our sales in Germany in March?", (MARCH,), {}),
    ("Find why the plant in Lyon is late, then write a letter about it.", (DELAY,), {"writer": 1}),
    ("What were our sales in Germany in March, and why is the plant in Lyon late?", (MARCH,),
     {"researcher": 1}),
]  # fmt: skip


async def decide(lab: Lab, request: str, results: tuple[TaskResult, ...], needs: Needs) -> str:
    now = Round(
        number=2,
        max_rounds=12,
        request=request,
        tasks=results,
        new=frozenset(one.task.id for one in results),
    )
    team = office(lab.model, "stepwise")
    decision = await ModelDecider(lab.caller, team, lab.fence).decide(now, problems=lambda _: ())
    if not needs:
        return "" if decision.done and not decision.tasks else "it did not stop"
    return _wrong_tasks(decision.tasks, needs) if decision.tasks else "it stopped early"


async def _work(lab: Lab, worker: Worker, intent: str) -> list[events.Event]:
    """What happened when a worker did one task, in one attempt."""
    team = Team("one", model=lab.model, workers=[worker], retry=RetryRules(max_attempts=1))
    given = Plan(goal=intent, tasks=[Task(id="t1", worker=worker.name, intent=intent,
                                          limits=Limits(timeout_s=3_000))])  # fmt: skip
    run = await Supervisor(team, deadline_s=None).start(plan=given)
    seen = [event async for event in run.events()]
    for event in seen:
        if isinstance(event, events.TaskFailed):
            raise ModelError(event.message, transient=False)
    return seen


def _output(seen: Iterable[events.Event]) -> object:
    return next((one.result.output for one in seen if isinstance(one, events.TaskCompleted)), None)


async def call(lab: Lab, worker: Worker, intent: str, tools: tuple[str, ...], expected: str) -> str:
    seen = await _work(lab, worker, intent)
    called = {one.tool for one in seen if isinstance(one, events.ToolCalled) and not one.error}
    if not {*tools} <= called:
        return "no call" if not called else "a call is missing"
    said = str(_output(seen)).replace(",", "")
    return "" if any(one in said for one in expected.split("|")) else "wrong answer"


async def text(lab: Lab, intent: str, expected: str) -> str:
    output = _output(await _work(lab, WRITER, intent))
    return "" if any(one in str(output) for one in expected.split("|")) else "wrong answer"


async def typed(lab: Lab, output: object, intent: str, right: Callable[[object], bool]) -> str:
    found = _output(await _work(lab, reader(output), intent))
    return "it escalated" if found is None else "" if right(found) else "wrong answer"


async def escalation(lab: Lab, intent: str, expected: str) -> str:
    seen = await _work(lab, INVOICES, intent)
    reasons = [one.reason for one in seen if isinstance(one, events.TaskEscalated)]
    return "it answered" if not reasons else "" if reasons == [expected] else "another reason"


WORK_CASES = [
    *(Case("planner: ahead", partial(plan, kind="ahead", request=request, needs=needs, edge=edge))
      for request, needs, edge in PLANS),
    *(Case("worker with tools",
           partial(call, worker=CLERK, intent=one, tools=tools, expected=expected))
      for one, tools, expected in CALLS),
    *(Case("typed answer", partial(typed, output=output, intent=one, right=right))
      for output, one, right in TYPED),
    *(Case("worker without tools", partial(text, intent=one, expected=expected))
      for one, expected in TEXTS),
    *(Case("escalation", partial(escalation, intent=one, expected=expected))
      for one, expected in ESCALATIONS),
    *(Case("router", partial(route, request=request, expected=expected))
      for request, expected in ROUTED),
    *(Case("planner: stepwise", partial(plan, kind="stepwise", request=request, needs=needs))
      for request, needs in MORE_PLANS),
    *(Case("decision", partial(decide, request=request, results=results, needs=needs))
      for request, results, needs in DECISIONS),
    *(Case("planner: recursive", partial(plan, kind="recursive", request=request, needs=needs))
      for request, needs in MORE_PLANS),
    *(Case("workers for a plan", partial(plan_with_workers, request=request, needs=needs))
      for request, needs in DESCRIBED),
]  # fmt: skip
