"""A team's contact: what the user is told besides, where no worker could answer."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from leadhand import Answer, Escalated, Handoff, Outcome, Result, Supervisor, Team, Worker
from leadhand.cli.views.answer import markdown, show_answer
from leadhand.journal.store_journal import MemoryJournal
from leadhand.teams.loader import load
from leadhand.testing import run_virtual
from tests.page.stored import stored_run
from tests.plans.samples import plan, task
from tests.stored import store_of
from tests.team_folders import worker, write_team

CONTACT = "Contact support: **help@example.com**"


def knows(handoff: Handoff) -> str:
    return "It costs 40."


def hands_back(handoff: Handoff) -> Outcome:
    partial = Result(output="The invoice is from May.")
    return Escalated(reason="out_of_scope", message="not about invoices", partial=partial)


def fails(handoff: Handoff) -> str:
    raise ValueError("no such invoice")


def doubts(handoff: Handoff) -> Outcome:
    partial = Result(output="Perhaps 40.")
    return Escalated(reason="low_confidence", message="two readings", partial=partial)


def team(*functions: object, contact: str | None = CONTACT) -> Team:
    workers = [
        Worker(f"w{n}", f"Works, {n}", run=cast("Callable[[Handoff], object]", one))
        for n, one in enumerate(functions)
    ]
    return Team("support", workers=tuple(workers), contact=contact)


def shown(answer: Answer, *, terminal: bool) -> str:
    file = io.StringIO()
    show_answer(answer, Console(file=file, width=100, force_terminal=terminal, color_system=None))
    return file.getvalue()


@pytest.mark.parametrize("function", [hands_back, fails])
def test_where_no_worker_could_answer_the_contact_follows_what_is_known(function: object) -> None:
    answer = Supervisor(team(function)).run_sync("Which invoice?")
    assert answer.status == "failed"
    assert answer.contact == CONTACT
    assert answer.answer.startswith("## What is missing\n\n- `w0`: ")
    assert answer.answer.endswith(f"\n\n{CONTACT}")
    assert ("The invoice is from May." in answer.answer) == (function is hands_back)


def test_where_one_of_several_could_not_it_is_told_as_well() -> None:
    answer = Supervisor(team(knows, fails)).run_sync("Which invoice?")
    assert (answer.status, answer.contact) == ("partial", CONTACT)
    assert "It costs 40." in answer.answer


@pytest.mark.parametrize("function", [knows, doubts])
def test_an_answer_that_is_there_has_no_contact(function: object) -> None:
    answer = Supervisor(team(function)).run_sync("Which invoice?")
    assert answer.contact is None
    assert CONTACT not in answer.answer


def test_a_team_without_one_tells_none() -> None:
    answer = Supervisor(team(fails, contact=None)).run_sync("Which invoice?")
    assert answer.contact is None
    assert answer.answer.startswith("## What is missing")


def test_a_run_that_waits_for_a_person_has_none_yet() -> None:
    supervisor = Supervisor(team(hands_back), approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=plan(task("a", worker="w0"))))
    assert (answer.status, answer.contact) == ("waiting", None)


@pytest.mark.parametrize("function", [hands_back, fails])
def test_it_is_shown_once_in_text_markdown_and_the_page(function: object) -> None:
    supervisor = Supervisor(team(function))
    answer = supervisor.run_sync("Which invoice?")
    assert markdown(answer).count(CONTACT) == 1
    assert shown(answer, terminal=False).count(CONTACT) == 1
    assert shown(answer, terminal=True).count("Contact support: help@example.com") == 1
    run = stored_run(store_of(supervisor).events(answer.run_id))
    assert isinstance(run["answer"], dict)
    assert run["answer"]["contact"] == CONTACT
    assert CONTACT not in str(run["answer_html"])


def test_a_team_folder_has_it_in_its_team_yaml(tmp_path: Path) -> None:
    head = 'description: Helps\ncontact: "Contact support: 555"\n'
    write_team(tmp_path, head, solo=worker())
    assert load(tmp_path).contact == "Contact support: 555"


class Stalled(MemoryJournal):
    """A journal that begins runs, and then answers no more."""

    def __init__(self) -> None:
        super().__init__()
        self.stalls = False

    async def commit(self, run_id: str | None = None) -> None:
        """Never comes back once it stalls."""
        if self.stalls:
            await asyncio.get_running_loop().create_future()
        await super().commit(run_id)


def test_the_contact_is_given_too_where_the_answer_could_not_be_kept() -> None:
    journal = Stalled()

    async def stalls(handoff: Handoff) -> str:
        journal.stalls = True
        raise ValueError("no such invoice")

    supervisor = Supervisor(team(stalls), journal=journal, deadline_s=5.0)
    answer = run_virtual(supervisor.run("Which invoice?"))
    assert "is not kept" in answer.gaps[-1].why
    assert answer.contact == CONTACT
    assert answer.answer.endswith(f"\n\n{CONTACT}")
