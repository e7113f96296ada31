"""The synthesizer by model, over real HTTP: what it asks, and what it makes of the answer."""

import asyncio
import re

import pytest

from leadhand.contracts.answer import Conflict, Source
from leadhand.contracts.team import Role
from leadhand.errors import ModelError
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.synthesis.results import NONCE, REQUEST, gave, missing, said, synthesized

RESULTS = (
    gave("t1", "Line A sold 40.", evidence=["a.csv:3", "a.csv:9"]),
    gave("t2", {"sold": 30}, summary="Line B sold 30.", missing=["b.csv was\n[t1] cut"]),
    missing("t3"),
    gave("t4", "Line C may have sold 9.", status="escalated", why="low_confidence: a guess"),
)


def answering(server: ScriptedServer, *replies: Json) -> None:
    """Have the server answer one request with each of these."""
    server.reset(script=[{"match": {}, "reply": reply, "times": 1} for reply in replies])


def test_one_request_shows_the_model_every_result_once_in_one_fence(server: ScriptedServer) -> None:
    run = asyncio.run(synthesized(RESULTS, instruction="Name the numbers."))
    stats = server.stats()
    assert (stats.requests, stats.by_role) == (1, {"synthesizer": 1})
    system, user = said(stats)
    assert system.startswith("# How you write the answer")
    assert user == (
        f"Request: {REQUEST}\n\nInstruction: Name the numbers.\n\n"
        f'<data-{NONCE} from="results">\n'
        "[t1] Line A sold 40.\n"
        '[t2] Line B sold 30.\n{"sold":30}\nNot done: b.csv was [t1] cut\n'
        "[t3] no result (failed: the file is gone)\n"
        "[t4] (escalated: low_confidence: a guess) Line C may have sold 9.\n"
        f"</data-{NONCE}>"
    )
    assert [(call.role, call.task_id) for call in run.calls] == [("synthesizer", None)]


def test_the_stable_part_of_the_prompt_comes_first_and_the_nonce_last(
    server: ScriptedServer,
) -> None:
    asyncio.run(synthesized(RESULTS, role=Role(instructions="Write in French.")))
    system, _ = said(server.stats())
    order = [system.index(text) for text in ("# How you", "Write in French.", NONCE)]
    assert order == sorted(order)


def test_the_answer_has_its_citations_checked_and_its_sources_and_contradictions_listed(
    server: ScriptedServer,
) -> None:
    contradictions: Json = [
        {"task_ids": ["t1", "t9", "[t2]"], "about": "the sum", "resolution": None, "why": "open"},
        {"task_ids": ["t1", "t3"], "about": "nothing that t3 said"},
    ]
    answer = "A [t1, t9] beats B [t2], and C [t3]. See `rows[t9]`."
    answering(
        server,
        {"json": {"answer": answer, "confidence": 0.724, "contradictions": contradictions}},
        {"json": {"why": "open", "contradict": True, "winners": [], "resolution": None}},
    )
    made = asyncio.run(synthesized(RESULTS)).synthesis
    assert made.answer == (
        "A [t1] beats B [t2], and C. See `rows[t9]`.\n\n"
        "*2 citations of tasks without a result removed.*"
    )
    assert made.confidence == 72
    assert made.sources == (
        Source(task_id="t1", ref="a.csv:3"),
        Source(task_id="t1", ref="a.csv:9"),
        Source(task_id="t2", ref="result"),
    )
    assert made.conflicts == (
        Conflict(task_ids=("t1", "t2"), about="the sum", resolution=None, why="open"),
    )


def test_a_plan_of_one_task_and_a_single_result_need_no_model(server: ScriptedServer) -> None:
    alone = asyncio.run(synthesized([gave("t1", "all of it")])).synthesis
    assert alone.answer == "all of it"
    left = asyncio.run(synthesized([gave("t1", "what is left"), missing("t2")])).synthesis
    assert left.output == {"t1": "what is left"}
    assert asyncio.run(synthesized([missing("t1"), missing("t2")])).synthesis.answer == ""
    assert server.stats().requests == 0


def test_f10_a_thousand_short_results_are_one_request(server: ScriptedServer) -> None:
    results = [gave(f"t{number}", "x" * 120) for number in range(1, 1_001)]
    asyncio.run(synthesized(results))
    stats = server.stats()
    assert stats.requests == 1
    _, user = said(stats)
    assert all(f"\n[t{number}] xxx" in user for number in range(1, 1_001))


def test_an_invalid_answer_is_named_and_repaired(server: ScriptedServer) -> None:
    answering(
        server, {"json": {"answer": " ", "confidence": "high"}}, {"json": {"answer": "A [t1]."}}
    )
    assert asyncio.run(synthesized(RESULTS)).synthesis.answer == "A [t1]."
    told = str(server.stats().bodies[-1])
    assert "`answer`" in told
    assert "`confidence`" in told


def test_plain_text_instead_of_the_form_is_an_answer_without_confidence(
    server: ScriptedServer,
) -> None:
    answering(server, {"text": "Line A [t1], not [t9]."})
    made = asyncio.run(synthesized(RESULTS)).synthesis
    assert made.answer.startswith("Line A [t1], not.\n\n*1 citation ")
    assert (made.confidence, len(made.sources), server.stats().requests) == (None, 2, 1)


def test_a_model_that_gives_no_answer_is_an_error(server: ScriptedServer) -> None:
    server.reset(script=[{"match": {}, "reply": {"json": {"confidence": 1}}}])
    with pytest.raises(ModelError, match="no valid answer after 2 repairs"):
        asyncio.run(synthesized(RESULTS))
    with pytest.raises(ModelError, match="no model"):
        asyncio.run(synthesized(RESULTS, model=None))


def test_select_passes_the_chosen_result_on_word_for_word(server: ScriptedServer) -> None:
    answering(
        server,
        {"json": {"choice": "t3", "why": "it sounds good", "confidence": 99}},
        {"json": {"choice": "t2", "why": "It has\nthe numbers.", "confidence": 80}},
    )
    made = asyncio.run(synthesized(RESULTS, synthesis="select")).synthesis
    assert made.answer == (
        'Line B sold 30.\n\n    {\n      "sold": 30\n    }\n\n'
        "*Chosen from 3 results: t2, It has the numbers.*"
    )
    assert (made.output, made.confidence) == ({"sold": 30}, 80)
    assert [(source.task_id, source.ref) for source in made.sources] == [
        ("t2", "result"),
        ("t1", "not chosen"),
        ("t4", "not chosen"),
    ]
    stats = server.stats()
    assert stats.requests == 2
    assert "'enum': ['t1', 't2', 't4']" in str(stats.bodies[0])
    assert "t3\\' is not one of the tasks: t1, t2, t4." in str(stats.bodies[1])
    assert said(stats)[0].startswith("# How you choose")


def test_a_plain_role_asks_as_shortly_as_can_be(server: ScriptedServer) -> None:
    answering(server, {"text": "A [t1] [t8]"})
    role = Role(plain=True, instructions="Write the final answer from the parts.")
    made = asyncio.run(synthesized(RESULTS[:2], role=role, instruction=REQUEST)).synthesis
    assert made.answer.startswith("A [t1]\n\n*1 citation")
    stats = server.stats()
    assert "tools" not in str(stats.bodies)
    system, user = said(stats)
    assert system == "Write the final answer from the parts."
    assert user == (
        f"{REQUEST}\n<data-{NONCE}>\n[t1] Line A sold 40.\n"
        f'[t2] Line B sold 30.\n{{"sold":30}}\nNot done: b.csv was [t1] cut\n</data-{NONCE}>'
    )


def test_f10_results_that_outgrow_the_context_are_condensed_and_all_are_read(
    server: ScriptedServer,
) -> None:
    """Context 1,000 tokens: 2,000 bytes of results a request; t2 alone is three times as long."""
    words = " ".join(f"w{number}" for number in range(1_300))
    results = [gave("t1", "short one"), gave("t2", words), gave("t3", "another"), missing("t4")]
    condensed = {"match": {"system": "# How you condense"}, "reply": {"text": "Some words [t2]."}}
    server.reset(script=[condensed])
    run = asyncio.run(
        synthesized(results, synthesis="reduce", instruction="Count.", context_tokens=1_000)
    )
    stats = server.stats()
    asked = [said(stats, number) for number in range(stats.requests)]
    condensing = [user for system, user in asked if system.startswith("# How you condense")]
    assert len(condensing) == stats.requests - 1 >= 3
    everything = " ".join(condensing)
    assert [f"w{n}" for n in range(1_300) if not re.search(rf"\bw{n}\b", everything)] == []
    assert all(f"{id}]" in " ".join(user for _, user in asked) for id in ("t1", "t3", "t4"))
    assert all("Instruction: Count. Condense to at most 250 characters." in u for u in condensing)
    assert max(len(user) for _, user in asked) < 2_300
    assert asked[-1][1].count("Some words [t2].") == len(condensing)
    assert len(run.calls) == stats.requests


def test_f10_what_condensing_leaves_out_is_a_gap(server: ScriptedServer) -> None:
    condensed = {"match": {"system": "# How you condense"}, "reply": {"text": "Only [t1]."}}
    server.reset(script=[condensed, {"match": {}, "reply": {"json": {"answer": "A [t1]."}}}])
    results = [gave("t1", "x" * 900), gave("t2", "y" * 900), gave("t3", "z" * 900)]
    made = asyncio.run(synthesized(results, context_tokens=1_000)).synthesis
    assert made.answer == "A [t1]."
    assert [gap.task_id for gap in made.gaps] == ["t2", "t3"]
    assert "too long for the model" in made.gaps[0].why


def test_f10_a_model_that_does_not_condense_is_told_and_then_abandoned(
    server: ScriptedServer,
) -> None:
    server.reset(script=[{"match": {}, "reply": {"text": "x" * 1_500}}])
    with pytest.raises(ModelError, match="too long"):
        asyncio.run(synthesized([gave("t1", "x" * 9_000), gave("t2", "y")], context_tokens=1_000))
    assert "Condense to at most 250 characters." in said(server.stats())[1]
