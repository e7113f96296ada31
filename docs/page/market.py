"""The teams in the pictures of the page. Their workers are scripted: no model is used."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from leadhand import Handoff, Plan, Result, Role, TaskTemplate, Team, Worker
from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Usage
from leadhand.extension.roles import Source, Synthesis, TaskResult

VENDORS = ("acme", "globex", "initech")
PLANS = [
    {"vendor": "Acme", "plan": "Team", "price_usd": 12.0, "seats": 5},
    {"vendor": "Globex", "plan": "Pro", "price_usd": 15.5, "seats": 3},
    {"vendor": "Initech", "plan": "Basic", "price_usd": 9.0, "seats": 1},
]
ANSWER = """\
## Take Acme's Team plan

For twelve people it costs **$144 a month** and includes the board view and guests that you ask
for [compare]. Initech is cheaper per seat, but bills yearly and has no single sign-on
[features_initech, prices_initech].

| vendor | plan | seat and month | twelve seats |
|---|---|---:|---:|
| Acme | Team | $12.00 | $144.00 |
| Globex | Pro | $15.50 | $186.00 |
| Initech | Basic | $9.00 | $108.00 |

### What to watch

- Acme renews by itself unless it is cancelled **thirty days** before [terms].
- Globex raised its price in March; one of its pages still says $14 [prices_globex].
"""
CONFLICT = Conflict(
    task_ids=("prices_globex", "features_globex"),
    kind="difference",
    about="Globex Pro costs $14 on one page and $15.50 on another.",
    resolution="$15.50",
    why="That page is newer.",
)


def work(pace_s: float) -> Callable[[Handoff], Awaitable[Outcome]]:
    async def run(handoff: Handoff) -> Outcome:
        id = handoff.task_id.rpartition("/")[2]
        await asyncio.sleep(pace_s * (0.4 + 0.17 * (sum(map(ord, id)) % 9)))
        used = Usage(
            model="openai:gpt-5-mini",
            requests=2,
            input_tokens=2_000 + 170 * len(id),
            output_tokens=40 * len(id),
            cost_usd=0.0011 * len(id),
        )
        if id == "reviews":
            why = "the archive of reviews answered 503: Service Unavailable"
            return Failed(kind="tool_error", message=why, transient=True)
        if id == "compare":
            said = "Acme is cheapest for twelve seats with guests."
            return Completed(result=Result(output=PLANS, summary=said, confidence=84, usage=used))
        text = f"Three plans are listed for {id.rpartition('_')[2].title()}."
        return Completed(result=Result(output=text, summary=text, confidence=78, usage=used))

    return run


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    done = [one.task.id for one in results if one.status == "completed"]
    sites = tuple(
        Source(task_id=id, ref=f"https://{id.rpartition('_')[2]}.example/pricing") for id in done
    )
    return Synthesis(answer=ANSWER, sources=sites, conflicts=(CONFLICT,))


def market(name: str, pace_s: float) -> Team:
    run = work(pace_s)
    legal = Team(
        "legal",
        workers=[Worker("clerk", "Finds clauses", run=run), Worker("counsel", "Judges", run=run)],
        template=[
            TaskTemplate("clauses", "clerk", "Find the clauses about renewal and termination"),
            TaskTemplate("judge", "counsel", "Judge whether they are usual", ["clauses"]),
        ],
    )
    return Team(
        name,
        workers=[
            Worker("researcher", "Finds prices and features", run=run),
            Worker("analyst", "Compares what was found", run=run),
            Worker("legal", "Contract questions", team=legal),
        ],
        template=[
            *(
                TaskTemplate(
                    f"prices_{one}",
                    "researcher",
                    f"Find {one.title()}'s list prices for teams of up to fifty, with their dates",
                )
                for one in VENDORS
            ),
            *(
                TaskTemplate(
                    f"features_{one}",
                    "researcher",
                    f"List what each plan of {one.title()} includes",
                    [f"prices_{one}"],
                )
                for one in VENDORS
            ),
            TaskTemplate("reviews", "researcher", "Collect what customers say about support"),
            TaskTemplate("terms", "legal", "Read the terms of all three and name what is unusual"),
            TaskTemplate(
                "compare",
                "analyst",
                "Compare prices and features, per seat and month",
                [f"features_{one}" for one in VENDORS],
            ),
            TaskTemplate("rank", "analyst", "Rank them for a team of twelve", ["compare", "terms"]),
        ],
        synthesizer=Role(run=answer),
    )


def ask(handoff: Handoff) -> Outcome:
    why = "The contract names two prices. Does the list price of May apply, or that of the order?"
    return Escalated(reason="ambiguous_input", message=why)


quick = market("market", 1.0)
slow = market("vendors", 20.0)
orders = Team(
    "orders",
    workers=[Worker("clerk", "Checks orders", run=ask)],
    template=[TaskTemplate("check", "clerk", "{request}")],
)
