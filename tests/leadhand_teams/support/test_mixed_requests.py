"""Requests beside a log about something else, with two questions, or in another language."""

from pathlib import Path

import pytest

from leadhand import Answer, Supervisor
from leadhand.extension import load
from leadhand_teams.support.output import SupportAnswer
from leadhand_teams.support.report import files
from leadhand_teams.support.signals import reasons

FILES = {
    "billing.md": "# Billing\n\n## Refunds\n\nRefunds take 5 to 10 business days to reach you.\n\n"
    "## Invoices\n\nInvoices are below Settings.\n",
    "faq.md": "# FAQ\n\n## How do I get a refund?\n\nA refund is paid within 14 business days.\n\n"
    "## How do I export my customers?\n\nOpen Customers and choose Export.\n\n"
    "## Connect a Google calendar\n\nOpen Settings and choose Connect.\n",
    "runbooks.md": "# The calendar stopped\n\nWhen: stopped syncing, CAL-17\n\n"
    "Cause: The token has expired.\n\n1. Reconnect the calendar.\n",
    "app.log": "2026-11-01 08:00:04 ERROR CAL-17 calendar token expired for account 3\n",
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(request: str, desk: Path) -> tuple[Answer, SupportAnswer]:
    answer = Supervisor(load("support")).run_sync(request, inputs=[desk])
    return answer, SupportAnswer.model_validate(answer.output)


def test_a_refund_beside_a_log_about_something_else_is_an_escalation_without_its_runbook(
    desk: Path,
) -> None:
    answer, found = run("I want my money back, you billed me twice, I'll call my lawyer", desk)
    assert [task.worker for task in answer.tasks] == ["escalator", "documenter"]
    assert found.kind == "question"
    assert "calendar" not in found.reply
    assert "The number of the invoice" in found.reply
    assert "I am sorry for the trouble that you have. I have passed this on" in found.reply
    assert "person" not in found.reply
    assert found.ticket is not None
    assert any("CAL-17" in one for one in found.ticket.steps)


@pytest.mark.parametrize(
    ("request_text", "used"),
    [
        ("How do I export my customers?", False),
        ("How do I export customers who don't have an account?", False),
        ("How do I fix the calendar?", True),
        ("How do I scan a QR code?", False),
        ("What does CAL-17 mean?", True),
        ("Has the token of our calendar expired?", True),
        ("It does not work any more since Monday", True),
        ("I want a refund, and I want it now, CAL-17 again!", True),
    ],
)
def test_a_log_is_used_only_if_the_request_is_about_it(
    desk: Path, request_text: str, *, used: bool
) -> None:
    _, found = run(request_text, desk)
    assert bool(found.signs) is used
    assert ("Reconnect the calendar" in found.reply) is used


def test_a_problem_and_a_question_are_both_answered_and_documents_that_disagree_are_named(
    desk: Path,
) -> None:
    answer, found = run(
        "Google calendar stopped syncing, CAL-17. We use Chrome 120. How long do refunds take?",
        desk,
    )
    assert [task.worker for task in answer.tasks] == ["troubleshooter", "documenter"]
    assert found.ticket is None
    assert "1. Reconnect the calendar." in found.reply
    assert "Refunds take 5 to 10 business days" in found.reply
    assert "within 14 business days" in found.reply
    (conflict,) = answer.conflicts
    assert conflict.kind == "difference"
    assert "billing.md#refunds" in conflict.why
    assert "faq.md#how-do-i-get-a-refund" in conflict.why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("How long do refunds take?", None),
        ("Sync fails. And what is your refund policy?", None),
        ("When do I get my refund?", "money"),
        ("Why was I charged twice?", "money"),
        ("How long do refunds take? I want my money back.", "money"),
        ("How do I talk to a human?", "rights"),
        ("How long until a refund is on my card? I am not complaining.", None),
        ("How long do you keep personal data?", None),
        ("This is a complaint.", "rights"),
    ],
)
def test_a_question_about_the_rules_for_money_needs_no_person(text: str, why: str | None) -> None:
    assert reasons(text)[:1] == ([why] if why else [])


@pytest.mark.parametrize(
    "text", ["¿Cómo exporto mis clientes?", "Wie exportiere ich meine Kunden?", "Как экспорт?"]
)
def test_a_request_in_another_language_gets_no_runbook_and_says_why(desk: Path, text: str) -> None:
    answer, found = run(text, desk)
    assert answer.status == "partial"
    assert "Only requests in English are understood word for word." in found.reply
    assert "Reconnect" not in found.reply
    assert ("Open Customers and choose Export" in found.reply) is bool(found.sections)
    assert found.ticket is not None


def test_the_report_says_each_thing_once_and_nothing_of_the_machinery(desk: Path) -> None:
    answer, found = run("Calendar stopped syncing, CAL-17", desk)
    report = str(files(answer)["report.md"])
    assert report.count(found.reply.partition("\n")[0]) == 1
    assert "Routed" not in report + answer.answer
    assert report.count("side by side") == 1
