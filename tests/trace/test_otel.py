"""Spans of real runs, as a collector receives them from the SDK's own exporter."""

import asyncio
import json
from collections.abc import Callable

import pytest

from leadhand import Handoff, Plan, PlanError, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, RunStarted, TaskCompleted
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result
from leadhand.contracts.team import RetryRules
from leadhand.journal import MemoryJournal
from leadhand.testing import ScriptedServer
from leadhand.trace.otel import Spans
from tests.handles import resumed
from tests.models.asking import OPENAI
from tests.nested_teams import DESK, LEGAL, broken, clause, law, office, plan, workers
from tests.trace.collector import Collector, Received, Tree
from tests.trace.runs import trouble
from tests.workers.model_runs import INTENT, call, final, one_task, steps, team, worker

CLIENT = 3
PARTS = ("big.1", "big.2")
RULES = RetryRules(max_attempts=2, backoff_s=(0.01,))


def traced(
    the_team: Team,
    the_plan: Plan,
    *,
    run_id: str | None = None,
    content: bool = False,
    redact: Callable[[str], str] = str,
) -> tuple[Tree, bytes, list[Event]]:
    """The spans of a run, the bytes that they came in, and its events."""
    events: list[Event] = []
    with Collector() as collector:
        provider = collector.provider()
        with Spans(provider, content=content, redact=redact) as spans:

            def tell(event: Event) -> None:
                events.append(event)
                spans(event)

            work = Supervisor(the_team).run(plan=the_plan, run_id=run_id, listener=tell)
            asyncio.run(work)
        provider.shutdown()
        return Tree(collector.spans), b"".join(collector.bodies), events


def ns(events: list[Event], kind: str, task_id: str) -> int:
    """When the only event of that type about that task was, by the run's clock."""
    zero = next(event for event in events if isinstance(event, RunStarted))
    at_ns = round(zero.at.timestamp() * 1_000_000) * 1_000 - round(zero.elapsed_s * 1e9)
    found = [e for e in events if e.type == kind and getattr(e, "task_id", None) == task_id]
    return at_ns + round(found[0].elapsed_s * 1e9)


def flaky(handoff: Handoff) -> Outcome:
    if handoff.attempt == 1:
        return Failed(kind="error", message="the moat is SECRET", transient=True)
    return Completed(result=Result(output="the keep is TALL"))


def unsure(handoff: Handoff) -> Outcome:
    return Escalated(reason="out_of_scope", message="ask the MASON")


def test_a_run_with_failures_and_a_nested_team_is_one_tree() -> None:
    inner = law(reader=clause, archivist=broken)
    the_workers = (
        Worker("legal", "Contract questions", team=inner),
        *workers(keep=flaky, moat=unsure),
    )
    the_team = Team("castle", workers=the_workers, retry=RULES)
    the_plan = plan(
        LEGAL,
        Task(id="k", worker="keep", intent="Measure the keep.", depends_on=("t1",)),
        Task(id="m", worker="moat", intent="Measure the moat."),
        Task(id="after", worker="keep", intent="Never done.", depends_on=("m",)),
    )
    tree, _, events = traced(the_team, the_plan, run_id="castle-1")
    root = tree.root
    assert root.name == "invoke_workflow castle"
    assert root.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert root.attributes["gen_ai.workflow.name"] == "castle"
    assert root.attributes["leadhand.run.status"] == "partial"
    assert not root.failed
    assert {span.attributes["leadhand.run.id"] for span in tree.spans} == {"castle-1"}
    assert len({span.trace_id for span in tree.spans}) == 1
    assert tree.strays() == []

    first, second = tree.named("invoke_agent keep")
    assert (first.attributes["leadhand.task.attempt"], first.error) == (1, "error")
    assert first.failed
    assert [note.name for note in first.notes] == ["task_retried"]
    assert first.notes[0].attributes["leadhand.delay_s"] == 0.01
    assert (second.attributes["leadhand.task.attempt"], second.failed) == (2, False)
    assert second.attributes["gen_ai.agent.name"] == "keep"
    legal = tree.one("invoke_agent legal")
    assert legal.id in first.links
    assert tree.one("invoke_agent moat").error == "out_of_scope"
    assert [n.attributes for n in root.notes if n.name == "task_skipped"] == [
        {"leadhand.task.id": "after", "leadhand.task.attempt": 0, "leadhand.blame": "m"}
    ]

    inside = ["invoke_workflow castle", "invoke_agent legal", "invoke_workflow law"]
    reader = tree.one("invoke_agent reader", task_id="t1/reader")
    assert tree.way(reader) == [*inside, "invoke_agent reader"]
    assert tree.one("invoke_agent archivist").error == "error"
    plans = [tree.way(span) for span in tree.named("plan")]
    assert plans == [["invoke_workflow castle", "plan"], [*inside, "plan"]]
    merges = [tree.way(span) for span in tree.named("synthesize merge")]
    assert merges == [[*inside, "synthesize merge"], ["invoke_workflow castle", "synthesize merge"]]
    assert second.end_ns == ns(events, "task_completed", "k")
    assert first.end_ns == ns(events, "task_failed", "k")
    assert legal.start_ns == ns(events, "task_dispatched", "t1")


def test_calls_of_models_and_tools_are_within_the_attempt_that_made_them(
    model_server: ScriptedServer,
) -> None:
    def measure(building: str) -> str:
        """Measure a building."""
        if building == "ruin":
            raise ValueError("it has FALLEN")
        return f"{building} is 324 m HIGH"

    model_server.configure(
        script=steps(
            call("measure", building="Eiffel"), call("measure", building="ruin"), final("324 m")
        )
    )
    tree, body, _ = traced(team(worker(tools=[measure])), one_task())
    attempt = tree.one("invoke_agent surveyor")
    calls = tree.named("chat scripted")
    assert len(calls) == 3
    assert {call.parent_id for call in calls} == {attempt.id}
    assert {call.kind for call in calls} == {CLIENT}
    assert {call.attributes["gen_ai.provider.name"] for call in calls} == {"openai"}
    assert all(call.attributes["gen_ai.request.model"] == "scripted" for call in calls)
    tokens = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
    sent, received = (sum(int(str(call.attributes[key])) for call in calls) for key in tokens)
    stats = model_server.stats()
    assert (sent, received) == (stats.prompt_tokens, stats.completion_tokens)
    good, bad = tree.named("execute_tool measure")
    assert {good.parent_id, bad.parent_id} == {attempt.id}
    assert good.attributes["gen_ai.tool.name"] == "measure"
    assert (good.error, bad.error) == (None, "tool_error")
    order = [span.name.split()[0] for span in sorted((*calls, good, bad), key=lambda s: s.end_ns)]
    assert order == ["chat", "execute_tool", "chat", "execute_tool", "chat"]
    assert tree.strays() == []
    for text in (b"Eiffel", b"324 m", b"HIGH", b"FALLEN", INTENT.encode()):
        assert text not in body


def test_planner_and_synthesizer_ask_within_their_own_spans(model_server: ScriptedServer) -> None:
    legal = Team("law", workers=(worker("reader"), worker("writer")))
    desk = Worker("desk", "Dates", instructions="You know dates.")
    the_team = Team("office", model=OPENAI, workers=(Worker("legal", "Law", team=legal), desk))
    tree, _, _ = traced(the_team, plan(LEGAL, DESK))
    ways = [tree.way(span)[:-1] for span in tree.named("chat scripted")]
    inside = ["invoke_workflow office", "invoke_agent legal", "invoke_workflow law"]
    assert [*inside, "plan"] in ways
    assert [*inside, "invoke_agent reader"] in ways
    assert any(way[:-1] == inside and way[-1].startswith("synthesize ") for way in ways)
    assert any(way[-1].startswith("synthesize ") and len(way) == 2 for way in ways)
    assert tree.strays() == []


def test_a_call_that_fails_says_with_which_status_and_nothing_of_its_body(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(script=[{"reply": {"misbehave": {"401": None}}}])
    tree, _, _ = traced(team(), one_task())
    failed = tree.one("chat scripted")
    assert (failed.failed, failed.error) == (True, "401")
    assert failed.said == "the key was refused"
    assert tree.root.error == "failed"


def test_content_is_exported_where_it_is_asked_for_and_redacted_before(
    model_server: ScriptedServer,
) -> None:
    """F36: a text reaches the collector only by way of `redact`."""

    def look(key: str) -> str:
        """Look something up."""
        return f"found by {key}: 324 m"

    model_server.configure(script=steps(call("look", key="hunter2"), final("324 m by hunter2")))
    tree, body, _ = traced(
        team(worker(tools=[look])),
        one_task(intent="Use hunter2 to look up the height of the tower."),
        content=True,
        redact=lambda text: text.replace("hunter2", "[redacted]"),
    )
    attempt = tree.one("invoke_agent surveyor")
    assert "Use [redacted] to look" in said(attempt, "gen_ai.input.messages")
    assert "324 m by [redacted]" in said(attempt, "gen_ai.output.messages")
    assert "324 m by [redacted]" in said(tree.root, "gen_ai.output.messages")
    tool = tree.one("execute_tool look")
    assert json.loads(str(tool.attributes["gen_ai.tool.call.arguments"])) == {"key": "[redacted]"}
    assert tool.attributes["gen_ai.tool.call.result"] == "found by [redacted]: 324 m"
    assert b"hunter2" not in body


def said(span: Received, key: str) -> str:
    (message,) = json.loads(str(span.attributes[key]))
    return str(message["parts"][0]["content"])


def test_without_content_no_word_of_workers_or_people_is_exported() -> None:
    the_team = Team("castle", workers=workers(keep=flaky, moat=unsure))
    the_plan = plan(
        Task(id="k", worker="keep", intent="Measure the PORTCULLIS."),
        Task(id="m", worker="moat", intent="Measure the DITCH."),
    )
    _, body, _ = traced(the_team, the_plan)
    for text in (b"SECRET", b"TALL", b"MASON", b"PORTCULLIS", b"DITCH", b"May we cancel?"):
        assert text not in body
    assert b"invoke_agent keep" in body


def test_a_run_whose_plan_is_refused_still_ends_its_spans() -> None:
    with Collector() as collector:
        provider = collector.provider()
        bad = Plan(goal="x", tasks=(Task(id="a", worker="nobody", intent="Do it."),))
        with Spans(provider) as spans, pytest.raises(PlanError):
            asyncio.run(Supervisor(office(law(reader=clause))).run(plan=bad, listener=spans))
        provider.shutdown()
        tree = Tree(collector.spans)
    assert {span.name: span.error for span in tree.spans} == {
        "invoke_workflow office": "plan_rejected",
        "plan": "plan_rejected",
    }
    assert tree.strays() == []


def test_a_resumed_run_has_a_root_of_its_own_in_the_same_trace() -> None:
    """What its first process had open was ended with it; what follows is all there."""
    journal = MemoryJournal()
    stopped = Supervisor(office(law(reader=clause)), journal=journal)

    def stop(event: Event) -> None:
        if isinstance(event, TaskCompleted):
            stopped.cancel()

    with Collector() as collector:
        for resumes in (False, True):
            provider = collector.provider()
            with Spans(provider) as spans:

                def tell(event: Event, spans: Spans = spans) -> None:
                    spans(event)
                    stop(event)

                if resumes:
                    supervisor = Supervisor(office(law(reader=clause)), journal=journal)
                    asyncio.run(resumed(supervisor, "r1", listener=spans))
                else:
                    later = LEGAL.model_copy(update={"depends_on": ("t2",)})
                    asyncio.run(stopped.run(plan=plan(DESK, later), run_id="r1", listener=tell))
            provider.shutdown()
        received = collector.spans
    first, second = [span for span in received if not span.parent_id]
    assert {span.trace_id for span in received} == {first.trace_id}
    assert (first.name, first.error) == ("invoke_workflow office", "person")
    assert (second.name, second.error) == ("invoke_workflow office", None)
    assert second.attributes["leadhand.run.resumed"] is True
    assert first.end_ns <= second.start_ns
    of_second = [span.name for span in received if span.parent_id == second.id]
    assert of_second == ["invoke_agent legal", "synthesize merge"]


def test_decisions_are_events_of_the_attempts_that_called_for_them() -> None:
    """Refined, raised, split, judged by a second worker: each where it was decided."""
    with Collector() as collector:
        provider = collector.provider()
        with Spans(provider) as spans:
            for event in trouble().log():
                spans(event)
        provider.shutdown()
        tree = Tree(collector.spans)
    decided = {
        (str(span.attributes["leadhand.task.id"]), span.attributes["leadhand.task.attempt"]): [
            note.name for note in span.notes
        ]
        for span in tree.spans
        if span.name.startswith("invoke_agent")
    }
    assert decided["fails", 1] == ["task_refined"]
    assert decided["fails", 3] == []
    assert decided["big", 1] == ["task_retried"]
    assert decided["big", 2] == ["task_split"]
    _, big = tree.named("invoke_agent first", task_id="big")
    assert big.error == "timeout"
    assert big.notes[0].attributes["leadhand.parts"] == [*PARTS]
    after = tree.one("invoke_agent second", task_id="after")
    parts = {span.id for span in tree.spans if span.attributes.get("leadhand.task.id") in PARTS}
    assert parts < set(after.links)
    assert "task_reassigned" in decided["unsure", 2]
    assert "opinion_judged" in decided["unsure", 3]
    assert tree.root.error == "unfinished"


def test_two_runs_at_once_are_two_trees() -> None:
    async def both(spans: Spans) -> None:
        supervisor = Supervisor(office(law(reader=clause)))
        asked = plan(LEGAL, DESK)
        await asyncio.gather(
            *(supervisor.run(plan=asked, run_id=id, listener=spans) for id in ("r1", "r2"))
        )

    with Collector() as collector:
        provider = collector.provider()
        with Spans(provider) as spans:
            asyncio.run(both(spans))
        provider.shutdown()
        received = collector.spans
    for id in ("r1", "r2"):
        tree = Tree([span for span in received if span.attributes["leadhand.run.id"] == id])
        assert len(tree.spans) == len(received) // 2
        assert tree.strays() == []
