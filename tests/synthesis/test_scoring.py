"""What a model found stands only if an independent look at the code does not refute it."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from leadhand.contracts.answer import Finding
from leadhand.contracts.team import ModelSpec, Tier
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.synthesis.findings import UNSCORED
from leadhand.synthesis.scoring import Scorer
from leadhand.testing import ScriptedServer, run_virtual
from leadhand.testing.json_data import Json, mapping, text
from leadhand.untrusted.fence import Fence
from tests.models.in_process import InProcess
from tests.recorders import LogRecorder
from tests.synthesis.results import NONCE, said

TIERS: dict[Tier, tuple[str, ...]] = {
    "fast": ("openai-chat:quick",),
    "standard": ("openai-chat:usual",),
    "strong": ("openai-chat:thorough",),
}


class Code:
    """Code of which each look sees as many lines as it asks for."""

    def around(self, finding: Finding, lines: int) -> str:
        return f"{lines} lines around {finding.id}"


def found(id: str = "f1") -> Finding:
    return Finding(
        id=id, path="app.py", line=7, end_line=7, severity="critical", category="bugs",
        rule="bugs/model-lost-argument", message="The argument is lost.", suggestion="Use it.",
        evidence="def run():", source="model", lenses=("bugs-model", "comments-model"),
        why=UNSCORED,
    )  # fmt: skip


def verdict(score: float, verdict: str = "confirmed", why: str = "It is so.") -> Json:
    return {"why": why, "verdict": verdict, "score": score}


def first_and_second(first: Json, second: Json) -> list[dict[str, Json]]:
    """A script by what the two looks see."""
    return [
        {"match": {"contains": "\n20 lines"}, "reply": {"json": first}},
        {"match": {"contains": "\n120 lines"}, "reply": {"json": second}},
    ]


async def score(
    *findings: Finding, tiers: Mapping[Tier, Sequence[ModelSpec]] = TIERS
) -> dict[str, Finding]:
    into: dict[str, Finding] = {}
    async with Connections(seed=1) as connections:
        caller = Caller(connections, LogRecorder())
        scorer = Scorer(caller, tiers, Fence(NONCE), surroundings=Code())
        await scorer.score(findings, into)
    return into


def scored(*findings: Finding) -> dict[str, Finding]:
    return asyncio.run(score(*findings))


def models(server: ScriptedServer) -> list[str]:
    return [text(mapping(body["body"]).get("model")) for body in server.stats().bodies]


@pytest.mark.parametrize(
    ("first", "asked", "final"),
    [
        (49, ["quick"], 49), (91, ["quick"], 91),
        (50, ["quick", "thorough"], 33), (90, ["quick", "thorough"], 33),
    ],
)  # fmt: skip
def test_a_score_in_doubt_is_settled_by_a_second_look_at_more_code(
    server: ScriptedServer, first: int, asked: list[str], final: int
) -> None:
    server.reset(script=first_and_second(verdict(first), verdict(33, why="No caller does.")))
    one = scored(found())["f1"]
    assert (one.confidence, models(server)) == (final, asked)
    assert one.why == ("No caller does." if len(asked) == 2 else "It is so.")


def test_a_scorer_sees_the_finding_and_the_code_and_not_who_wrote_it(
    server: ScriptedServer,
) -> None:
    server.reset(script=first_and_second(verdict(10), verdict(10)))
    scored(found())
    system, user = said(server.stats())
    assert "0 to 24, refuted" in system
    for shown in ("app.py, line 7", "The argument is lost.", "def run():", "20 lines around f1"):
        assert shown in user
    for hidden in ("bugs", "comments", "lost-argument", "confidence"):
        assert hidden not in user
    assert user.count(f"</data-{NONCE}>") == 2


def test_a_refutation_outweighs_the_number_beside_it(server: ScriptedServer) -> None:
    server.reset(script=first_and_second(verdict(97, "refuted"), verdict(97)))
    assert scored(found())["f1"].confidence == 24


@pytest.mark.parametrize(
    "wrong", [verdict(180), verdict(50, "perhaps"), {"why": "?", "verdict": "refuted"}]
)
def test_an_invalid_verdict_is_repaired_twice_at_most(server: ScriptedServer, wrong: Json) -> None:
    again = {"match": {"step": 1}, "reply": {"json": wrong}}
    server.reset(script=[again, {"match": {}, "reply": {"json": verdict(95)}}])
    assert scored(found())["f1"].confidence == 95
    server.reset(script=[{"match": {}, "reply": {"json": wrong}}])
    one = scored(found())["f1"]
    assert one.confidence == 0
    assert one.why.startswith(f"{UNSCORED}: the scorer gave no valid answer after 2 repairs")
    assert server.stats().requests == 3


def test_a_second_look_that_fails_leaves_the_finding_without_confidence(
    server: ScriptedServer,
) -> None:
    refused = {"match": {"contains": "\n120 lines"}, "reply": {"misbehave": {"400": True}}}
    server.reset(script=[refused, {"match": {}, "reply": {"json": verdict(85)}}])
    one = scored(found(), found("f2"))
    assert [finding.confidence for finding in one.values()] == [0, 0]
    assert all(finding.why.startswith(UNSCORED) for finding in one.values())


def test_sixteen_findings_are_looked_at_at_once_and_no_more() -> None:
    server = InProcess(script=[{"match": {}, "reply": {"json": verdict(95)}}], latency_ms=1_000)
    findings = [found(f"f{n}") for n in range(40)]
    many = run_virtual(score(*findings, tiers=dict.fromkeys(TIERS, (server.model,))))
    assert len(many) == server.stats().requests == 40
    assert server.stats().max_concurrency == 16
