"""The review team with a model: what each reviewer sees, and what remains when time is up."""

import asyncio
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from leadhand.contracts.answer import Finding, LensReport
from leadhand.contracts.outcome import Digest, Handoff, Result, TaskResult
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.synthesis.findings import Review
from leadhand.testing import ScriptedServer
from leadhand.untrusted.fence import Fence
from leadhand.workers import briefing
from leadhand_teams.review.change import Change
from leadhand_teams.review.diff_rows import chunks
from leadhand_teams.review.refutations import short_id
from leadhand_teams.review.synthesizer import FindingsSynthesizer
from leadhand_teams.review.team import review_team, with_model
from tests.leadhand_teams.review.changes import make_change
from tests.patience import HANG_S

SURE, UNSURE = "bugs/undefined-name", "security/shell-unquoted"


@pytest.fixture
def change(tmp_path: Path) -> Change:
    return make_change(tmp_path, {"a.py": "one = 1\ntwo = 2\n", "b.py": "three = 3\n"})


def team(change: Change, *, threshold: int = 80) -> Team:
    return with_model(review_team(change), change, chunks(change), threshold=threshold)


def found(rule: str, path: str = "a.py", *, message: str = "It is wrong.") -> Finding:
    return Finding(
        path=path, line=1, end_line=1, severity="warning", category="bugs", rule=rule,
        message=message, evidence="one = 1",
    )  # fmt: skip


def handoff(*findings: Finding, missing: str | None = None) -> Handoff:
    """The material of a model's task after its analyser reported these findings."""
    output = LensReport(findings=findings).model_dump(mode="json")
    status = "failed" if missing else "completed"
    return Handoff(
        run_id="run", task_id="bugs-model", attempt=1, from_agent="supervisor",
        to_agent="bugs-model", intent="Review it.", artifacts=("a.py",), return_to="supervisor",
        context=(Digest(task_id="bugs", status=status, why_missing=missing, excerpt="excerpt"),),
        inputs={} if missing else {"bugs": output},
    )  # fmt: skip


def shown(team: Team, given: Handoff, worker: str = "bugs-model") -> dict[str, str]:
    known = team.worker(worker)
    assert known is not None
    assert known.material is not None
    return dict(known.material(given))


def test_every_lens_that_gains_by_it_has_a_model_beside_its_analyser(change: Change) -> None:
    made = team(change)
    asked = {worker.name for worker in made.workers if worker.run is None}
    # There are no earlier commits, documents or review comments here.
    lenses = {"security", "bugs", "performance", "comments", "tests"}
    assert asked == {f"{lens}-model" for lens in lenses}
    assert all(worker.offline is None for worker in made.workers)
    entries = {entry.id: entry for entry in made.template}
    own = {name: name.removesuffix("-model") for name in asked}
    seen = {name: (lens,) for name, lens in own.items()} | {"bugs-model": ("bugs", "security")}
    assert {name: entries[name].depends_on for name in asked} == seen


def test_what_only_models_compare_has_a_model_instead_of_an_analyser(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"a.py": "one = 1\n", "AGENTS.md": "Write no numbers.\n"})
    export = tmp_path / "reviews.json"
    export.write_text("[]")
    made = with_model(
        review_team(change), change, chunks(change), threshold=80, past_reviews=export
    )
    entries = {entry.id: entry.depends_on for entry in made.template}
    assert entries["guidelines-model"] == entries["past_reviews-model"] == ()
    assert not {"guidelines", "past_reviews"} & entries.keys()
    given = shown(made, handoff(missing="no analyser"), "guidelines-model")
    assert "Write no numbers." in given["documents that may state rules"]


def test_a_reviewer_sees_its_part_and_what_was_found_in_it(change: Change) -> None:
    unsure = found(UNSURE, message="Unsure.").model_copy(update={"severity": "info"})
    given = handoff(found(SURE), unsure, found(SURE, "b.py"))
    texts = shown(team(change), given)
    assert list(texts) == ["change", "reported already", "suspected by analysers"]
    assert re.fullmatch(
        rf"\[[0-9a-f]{{8}}\] a\.py:1 {SURE}: It is wrong\.", texts["reported already"]
    )
    assert texts["suspected by analysers"] == f"a.py:1 {UNSURE}: Unsure."
    assert "+    2 | two = 2" in texts["change"]
    assert "three" not in texts["change"]
    # With nothing suppressed, all of it is reported.
    assert "suspected by analysers" not in shown(team(change, threshold=0), given)


def test_a_reviewer_is_told_that_its_analyser_gave_nothing(change: Change) -> None:
    texts = shown(team(change), handoff(missing="crashed"))
    assert texts["analysers that gave nothing"] == "bugs"


def test_f15_all_that_is_shown_is_fenced(change: Change) -> None:
    worker = team(change).worker("bugs-model")
    assert worker is not None
    text = briefing.opening(handoff(found(SURE)), Fence("n0nce"), material=worker.material)
    assert text.startswith("Review it.\n\n")
    fenced = re.findall(r'<data-n0nce from="([^"]+)">\n.*?\n</data-n0nce>', text, re.DOTALL)
    assert fenced == ["change", "reported already"]
    outside = re.sub(r"<data-n0nce from=.*?</data-n0nce>", "", text, flags=re.DOTALL)
    assert not any(words in outside for words in ("one = 1", "a.py", SURE, "excerpt"))


# The synthesis


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        for name, value in running.env().items():
            monkeypatch.setenv(name, value)
        yield running


def reported(message: str, evidence: str) -> JsonValue:
    return {
        "path": "a.py", "line": 1, "severity": "critical", "rule": "x", "message": message,
        "suggestion": "", "evidence": evidence,
    }  # fmt: skip


def results(*output: JsonValue, status: str = "completed") -> list[TaskResult]:
    task = Task(id="bugs-model", worker="bugs-model", intent="Review it.", artifacts=("a.py",))
    return [TaskResult(task, task.worker, status, Result(output=list(output)), None)]


@pytest.mark.wall_clock
async def test_what_was_scored_when_time_is_up_is_kept_and_the_rest_is_named(
    change: Change, server: ScriptedServer
) -> None:
    sure: JsonValue = {"why": "It is so.", "verdict": "confirmed", "score": 95}
    server.reset(
        script=[
            {"match": {"contains": "Quick."}, "reply": {"json": sure}},
            {"match": {}, "reply": {"misbehave": {"latency_ms": 600_000}}},
        ]
    )
    given = results(reported("Quick.", "one = 1"), reported("Slow to judge.", "two = 2"))
    plan = Plan(goal="Review it", tasks=tuple(one.task for one in given))
    scored = asyncio.Event()
    async with Connections(seed=1) as connections:
        recorder = Recorder(
            "run", MemoryJournal(), clock=SystemClock(), listeners=(lambda _: scored.set(),)
        )
        caller = Caller(connections, recorder)
        synthesizer = FindingsSynthesizer(
            change,
            chunks=chunks(change),
            caller=caller,
            tiers={"fast": ("openai-chat:x",), "strong": ("openai-chat:x",)},
            fence=Fence("n0nce"),
        )
        assert synthesizer.calls_model
        work = asyncio.ensure_future(synthesizer.synthesize(plan, given))
        await asyncio.wait_for(scored.wait(), HANG_S)
        for _ in range(20):
            await asyncio.sleep(0)  # what was answered goes on to where it is kept
        work.cancel()
        await asyncio.wait([work])
        made = synthesizer.by_code(plan, given)
    assert [source.ref for source in made.sources] == ["a.py:1"]
    review = Review.model_validate(made.output)
    assert [one.message for one in review.findings] == ["Quick."]
    assert [(one.message, one.confidence) for one in review.suppressed] == [("Slow to judge.", 0)]
    (note,) = (one for one in review.not_assessed if one.lens == "scorer")
    assert note.path == "a.py"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [((), "not judged"), ((reported("It is wrong.", "one = 1"),), "refused")],
    ids=["no scorer judged it", "a model reports it as well"],
)
def test_what_a_model_refutes_stays_as_it_was_if(
    change: Change, said: tuple[JsonValue, ...], outcome: str
) -> None:
    sure = found(SURE)
    refuted = {
        "finding": short_id(sure),
        "reason": "It is not.",
        "path": "b.py",
        "evidence": "three",
    }
    (by_model,) = results()
    output: JsonValue = {"findings": [*said], "refuted": [{**refuted}]}
    by_model = dataclasses.replace(by_model, result=Result(output=output))
    task = Task(id="bugs", worker="bugs", intent="Review it.", artifacts=("a.py",))
    report = LensReport(findings=(sure,)).model_dump(mode="json")
    given = [TaskResult(task, "bugs", "completed", Result(output=report), None), by_model]
    plan = Plan(goal="Review it", tasks=tuple(one.task for one in given))
    made = FindingsSynthesizer(change, chunks=chunks(change)).by_code(plan, given)
    review = Review.model_validate(made.output)
    assert [(one.rule, one.basis) for one in review.findings] == [(SURE, "measured")]
    assert [one.outcome for one in review.refutations] == [outcome]
    conflicts = [(one.task_ids, one.resolution) for one in made.conflicts]
    assert conflicts == ([] if said else [(("bugs", "bugs-model"), None)])


def test_what_a_model_left_unfinished_is_no_finding(change: Change) -> None:
    given = results("I was about to say", status="failed")
    plan = Plan(goal="Review it", tasks=tuple(one.task for one in given))
    made = FindingsSynthesizer(change, chunks=chunks(change)).by_code(plan, given)
    review = Review.model_validate(made.output)
    assert not [*review.findings, *review.look, *review.suppressed, *review.dropped]
