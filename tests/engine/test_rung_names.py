"""Rung, action, advice and event of one idea have one name, and the docs list them."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import leadhand
from leadhand.contracts.ladder import Rung
from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.team import Ladder
from leadhand.engine.advisers import Advisers
from leadhand.policies import rungs
from leadhand.policies.rungs import POLICIES, RUNG_OF
from leadhand.testing import completed
from tests.engine.ladders import crew, types, work
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.plans.samples import task

DOCS = Path(__file__).parents[2] / "docs" / "failures.md"
UNSURE = Escalated(reason="low_confidence", message="why?", partial=Result(output="half"))
BUSY = Failed(kind="error", message="busy", transient=True)
RUNGS: tuple[Rung, ...] = get_args(Rung)


def documented() -> dict[str, list[str]]:
    """Action, advice and events by rung, as the table of the docs has them."""
    section = DOCS.read_text(encoding="utf-8").partition("## The rungs\n")[2].partition("\n## ")[0]
    rows = [re.split(r" *\| *", line.strip("| ")) for line in section.splitlines() if "|" in line]
    return {row[0].strip("`"): [row[2].strip("`"), *row[3:]] for row in rows[2:]}


def helpers() -> tuple[ScriptedRemedies, ScriptedPerson]:
    """Remedies and a person with something to say to everything."""
    parts = (task("x", worker="first"), task("y", worker="first"))
    return (
        ScriptedRemedies(intent="Other words.", worker="second", parts=parts),
        ScriptedPerson("Invoice 7."),
    )


def action_of(rung: Rung) -> type:
    """The action that the rung's policy returns."""
    (action,) = set(get_args(get_type_hints(POLICIES[rung])["return"])) - {type(None)}
    return action


def advice_on(rung: Rung) -> str:
    """The class of the advice that the rung's action needs."""
    action = action_of(rung)
    if action not in RUNG_OF:
        return "-"
    advisers = Advisers(crew(), *helpers())
    asked = advisers.advise(action("why"), task("a", worker="first"), UNSURE, workers=("second",))
    return f"`{type(asyncio.run(asked)).__name__}`"


def events_after(rung: Rung) -> Iterator[str]:
    """The types of the events that the real scheduler records for the rung."""

    def script(handoff: Handoff) -> Outcome:
        first = handoff.task_id == "a" and handoff.attempt == 1
        return (BUSY if rung == "retry" else UNSURE) if first else completed()

    remedies, person = helpers()
    ladder = Ladder(failed=(rung,), low_confidence=(rung,))
    recorder = work(script, the_team=crew(ladder=ladder), remedies=remedies, person=person)
    _, _, *rest = types(recorder)  # dispatched, escalated
    for number, type in enumerate(rest):
        if type != "task_dispatched" and (type != "task_completed" or not number):
            yield type


@pytest.mark.parametrize(
    ("rung", "lists"),
    [
        (r"\b(raise_tier|RaiseTier|TierRaised|tier_raised)\b", 1),
        (r'"refine"|\brefine\(|\brefined:|\.refined\b|\b(RefineTask|TaskRefined)\b', 4),
    ],
    ids=["raise_tier", "refine"],
)
def test_a_rung_stands_in_the_files_that_its_module_lists(rung: str, lists: int) -> None:
    bullets = re.split(r"\n\n(?=- )", rungs.__doc__ or "")[1:]
    listed = re.findall(r"^- `([\w/]+\.py)`", "\n".join(bullets[:lists]), re.MULTILINE)
    source = Path(leadhand.__file__).parent
    found = [
        file.relative_to(source).as_posix()
        for file in source.rglob("*.py")
        if re.search(rung, file.read_text(encoding="utf-8"))
    ]
    assert len(bullets) == 4
    assert sorted(found) == sorted(listed)


def test_the_docs_list_every_rung_with_its_action_advice_and_event() -> None:
    assert list(documented()) == list(RUNGS) == list(POLICIES)


@pytest.mark.parametrize("rung", RUNGS)
def test_action_and_advice_are_named_after_the_rung(rung: Rung) -> None:
    name = "".join(word.capitalize() for word in rung.split("_"))
    assert re.fullmatch(f"{name}(Task|Result)?", action_of(rung).__name__)
    action, advice, _ = documented()[rung]
    assert action == action_of(rung).__name__
    # A person may also name another worker: tests/run/people/test_escalations.py.
    assert advice.removesuffix(", `Reassignment`") == advice_on(rung)
    if (known := RUNG_OF.get(action_of(rung))) is not None:
        assert known == rung
        assert rung == "ask_person" or hasattr(ScriptedRemedies, rung)


@pytest.mark.parametrize("rung", RUNGS)
def test_the_event_is_the_documented_one(rung: Rung) -> None:
    _, _, events = documented()[rung]
    if rung == "ask_person":
        events = events.removesuffix(", `task_reassigned`")
    assert ", ".join(f"`{type}`" for type in events_after(rung)) == events
