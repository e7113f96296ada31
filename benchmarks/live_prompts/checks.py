"""Cases of what happens after and around the work: remedies, synthesis, judge, critic, scorer."""

from functools import partial

from benchmarks.live_prompts.case import Case, Lab
from benchmarks.live_prompts.teams import office
from leadhand.contracts.answer import Conflict, Finding
from leadhand.contracts.outcome import Escalated, Failed, Result, TaskResult
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Role, Tier
from leadhand.planners.remedies import ModelRemedies
from leadhand.synthesis.critic import Critic
from leadhand.synthesis.judge import Judge
from leadhand.synthesis.model import ModelSynthesizer
from leadhand.synthesis.scoring import Scorer


def _task(id: str, worker: str, intent: str) -> Task:
    return Task(id=id, worker=worker, intent=intent)


REFINED = [
    ("What were the sales?", "What were our sales in Germany in March?",
     Escalated(reason="ambiguous_input", message="Which country and month?"), "March"),
    ("Find what they say about it.", "Find what the reports say about the plant in Lyon.",
     Escalated(reason="ambiguous_input", message="About what?"), "Lyon"),
    ("Write the post.", "Write a post of three sentences about our new lamp.",
     Failed(kind="invalid_output", message="I don't know what the post is about."), "lamp"),
]  # fmt: skip
SPLIT = [
    ("analyst", "Compute the sales of each month of 2025 in Germany, France and Spain."),
    ("researcher", "Find what the reports say about the suppliers Alba, Borg, Cato and Dura."),
    ("writer", "Write one post about our lamp, one about our desk and one about our chair."),
]
RESULTS = [
    ("How did sales in Germany and France compare in March?",
     {"de": "Sales in Germany in March: 41,200 euros.", "fr": "In France in March: 52,750 euros."},
     ("41,200", "52,750")),
    ("Why is the plant in Lyon late, and until when?",
     {"why": "A pump is missing.", "until": "The plant opens on 3 June."}, ("pump", "3 June")),
    ("How many lamps are in stock?",
     {"count": "There are 14 lamps.", "list": "The list says 19 lamps."}, ("14", "19")),
]  # fmt: skip
CONFLICTS = [
    ("How many lamps are in stock?", "the number of lamps",
     ("14 lamps, counted today in the store.", "19 lamps, by the list of last year."), ("a",)),
    ("When does the plant open?", "the date",
     ("It opens on 3 June, says the letter of its director.", "Someone thinks it opens in May."),
     ("a",)),
    ("What are the sales in March?", "the sales",
     ("41,200 euros in Germany.", "52,750 euros in France."), ()),
]  # fmt: skip
DRAFTS = [
    ("What were the sales in Germany and in France?", "In Germany they were 41,200 euros [a].",
     True),
    ("How many lamps are in stock?", "There are 14 lamps in stock [a].", False),
    ("Is 5 more than 7?", "5 is more than 7, because 7 is less than 5 by 2 [a]. 7 is more than 5.",
     True),
]  # fmt: skip
FINDINGS = [
    ("def mean(values):\n+    return sum(values) / len(values)",
     "An empty list raises ZeroDivisionError.", True),
    ("def first(items):\n+    if not items:\n+        return None\n+    return items[0]",
     "An empty list raises IndexError.", False),
    ("def close(file):\n+    file.flush\n+    file.close()",
     "`flush` is not called, because the parentheses are missing.", True),
]  # fmt: skip


def _remedies(lab: Lab, request: str) -> ModelRemedies:
    team = office(lab.model)
    judge = Judge(lab.caller, team, lab.fence)
    return ModelRemedies(lab.caller, team, lab.fence, request=request, arbiter=judge)


async def refine(
    lab: Lab, intent: str, request: str, outcome: Escalated | Failed, expected: str
) -> str:
    task = _task("t1", "analyst", intent)
    refined = await _remedies(lab, request).refine(task, outcome)
    return "no intent" if refined is None else "" if expected in refined else "too little in it"


async def split(lab: Lab, worker: str, intent: str) -> str:
    outcome = Failed(kind="timeout", message="It took too long.")
    parts = await _remedies(lab, intent).split(_task("t1", worker, intent), outcome)
    if len(parts) < 2:
        return "not split"
    if any(part.depends_on for part in parts):
        return "a needless dependency"
    return "" if {part.worker for part in parts} == {worker} else "wrong workers"


def _result(id: str, text: str) -> TaskResult:
    result = Result(output=text, summary=text)
    return TaskResult(_task(id, "researcher", "Find it."), "researcher", "completed", result, None)


async def synthesis(
    lab: Lab, request: str, results: dict[str, str], expected: tuple[str, ...]
) -> str:
    plan = Plan(goal=request, tasks=[_task(id, "researcher", "Find it.") for id in results])
    synthesizer = ModelSynthesizer(lab.caller, office(lab.model), lab.fence, request=request)
    made = await synthesizer.synthesize(plan, [_result(*one) for one in results.items()])
    if not all(one in made.answer for one in expected):
        return "a fact is missing"
    return (
        ""
        if all(f"[{id}" in made.answer or f", {id}" in made.answer for id in results)
        else ("a citation is missing")
    )


async def judge(
    lab: Lab, request: str, about: str, texts: tuple[str, str], winners: tuple[str, ...]
) -> str:
    conflict = Conflict(task_ids=("a", "b"), about=about)
    results = [_result(id, text) for id, text in zip("ab", texts, strict=True)]
    verdict = await Judge(lab.caller, office(lab.model), lab.fence).settle(
        conflict, results, request=request
    )
    return "" if verdict.conflict.taken == winners else "wrong winner"


async def criticise(lab: Lab, request: str, draft: str, faulty: bool) -> str:
    critic = Critic(lab.caller, office(lab.model), Role(), lab.fence, request=request)
    points = await critic.points(draft, missing=())
    musts = any(point.severity == "must" for point in points)
    return "" if musts == faulty else "a fault is missed" if faulty else "a fault that is none"


class _Code:
    def __init__(self, code: str) -> None:
        self._code = code

    def around(self, finding: Finding, lines: int) -> str:
        return f"+ {self._code}"


async def refute(lab: Lab, code: str, message: str, true: bool) -> str:
    tiers: dict[Tier, list[object]] = {"fast": [lab.model], "strong": [lab.model]}
    finding = Finding(id="f1", path="app.py", line=1, end_line=1, severity="warning",
                      category="bugs", rule="bugs/model", message=message,
                      evidence=code.partition("\n")[0], source="model")  # fmt: skip
    into: dict[str, Finding] = {}
    await Scorer(lab.caller, tiers, lab.fence, surroundings=_Code(code)).score([finding], into)
    believed = into["f1"].confidence >= 50
    return "" if believed == true else "refuted, and true" if true else "believed, and false"


CHECK_CASES = [
    *(Case("refine", partial(refine, intent=intent, request=request, outcome=outcome,
                             expected=expected))
      for intent, request, outcome, expected in REFINED),
    *(Case("split", partial(split, worker=worker, intent=intent)) for worker, intent in SPLIT),
    *(Case("synthesis", partial(synthesis, request=request, results=results, expected=expected))
      for request, results, expected in RESULTS),
    *(Case("judge", partial(judge, request=request, about=about, texts=texts, winners=winners))
      for request, about, texts, winners in CONFLICTS),
    *(Case("critic", partial(criticise, request=request, draft=draft, faulty=faulty))
      for request, draft, faulty in DRAFTS),
    *(Case("refutation", partial(refute, code=code, message=message, true=true))
      for code, message, true in FINDINGS),
]  # fmt: skip
