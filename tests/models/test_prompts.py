"""The digest of the prompts, by which a resumed run knows that they have changed."""

import hashlib
import re
from pathlib import Path

import leadhand
from leadhand import Supervisor, Team, Worker
from leadhand.contracts.team import ModelSpec, RetryRules, Role, Tier
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.models.prompts import PROMPTS
from leadhand.synthesis.scoring import Scorer
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object, items, mapping, text
from leadhand.untrusted.fence import Fence
from tests.models.in_process import InProcess
from tests.recorders import LogRecorder
from tests.synthesis.deliberation import rule, script
from tests.synthesis.test_scoring import Code, found, verdict
from tests.workers.model_runs import calls, ending, escalate, final

TASKS: Json = [
    {"id": "t1", "worker": "surveyor", "intent": "Find the height.", "done_when": "It is known."},
    {"id": "t2", "worker": "scribe", "intent": "Write it down.", "depends_on": ["t1"]},
]
OPEN: Json = {"task_ids": ["t1", "t2"], "about": "the height", "resolution": None, "why": ""}
DRAFT: Json = {"answer": "91 m [t1].", "confidence": 80, "contradictions": [OPEN]}
POINT: Json = {"point": "Say since when.", "severity": "must", "where": "91 m"}


def height(building: str) -> str:
    """How high a building is."""
    return f"{building}: 91 m"


async def score(server: InProcess) -> None:
    """Have a scorer look at a finding."""
    async with Connections(seed=1) as connections:
        caller = Caller(connections, LogRecorder())
        tiers: dict[Tier, tuple[ModelSpec, ...]] = {
            "fast": (server.model,),
            "strong": (server.model,),
        }
        await Scorer(caller, tiers, Fence("0" * 16), surroundings=Code()).score([found()], {})


def sent() -> list[str]:
    """What models are sent by a planner, workers, remedies, a synthesizer, a judge, a critic and a
    scorer, tool descriptions apart: they are no part of the hash of a request."""
    server = InProcess()
    worker: Object = {"role": "worker"}
    script(
        server,
        rule("planner", json={"tasks": TASKS, "synthesis": "merge", "instruction": "Be brief."}),
        {"match": {**worker, "step": 1, "contains": "Find"}, "reply": calls(
            ("height", {"building": "tower"}), ("height", {}), ("hight", {}))},
        {"match": {**worker, "system": "You survey"}, "times": 1, "reply": {"json": ending("")}},
        {"match": {**worker, "system": "You survey"}, "reply": final("It is 324 m. No, 91 m.")},
        {"match": {**worker, "contains": "Write it down."}, "reply": escalate("ambiguous_input")},
        {"match": worker, "reply": {"json": ending("92 m")}},
        {"match": {"tool": "decide"}, "reply": {"json": {"intent": "Write the height down."}}},
        rule("synthesizer", json=DRAFT),
        rule("judge", json={"why": "It was measured.", "contradict": True, "winners": ["t1"],
                            "resolution": "91 m", "confidence": 90}),
        rule("critic", times=1, json={"points": [POINT]}),
        rule("critic", json={"points": []}),
        rule("scorer", json=verdict(95)),
    )  # fmt: skip
    team = Team(
        "office",
        model=server.model,
        workers=(
            Worker("surveyor", "Heights", instructions="You survey.", tools=(height,)),
            Worker("scribe", "Letters", instructions="You write."),
        ),
        critic=Role(instructions="Mind the units."),
        retry=RetryRules(max_attempts=2),
    )
    supervisor = Supervisor(team, deadline_s=None, clock=VirtualClock())
    answer = run_virtual(supervisor.run("How high is the tower?"))
    run_virtual(score(server))
    assert answer.status == "complete"
    return [
        text(mapping(one).get("content"))
        for kept in server.stats().bodies
        for one in items(mapping(kept["body"]).get("messages"))
        if mapping(one)["role"] != "assistant"
    ]


def test_a_changed_prompt_changes_the_digest() -> None:
    folder = Path(leadhand.__file__).parent
    texts = [path.read_text() for path in sorted(folder.glob("**/prompts/*.md"))]
    texts += sorted(re.sub(r"data-[0-9a-f]{16}", "data-", one) for one in {*sent()})
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()
    assert digest == PROMPTS, (
        f"the prompts have changed: set PROMPTS in leadhand/models/prompts.py to {digest!r}, so "
        "that runs that were started before say so when they are resumed"
    )
