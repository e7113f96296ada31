"""What a customer reads: what opens the reply, what it asks, and what it leaves to a person."""

from pathlib import Path

import pytest

from leadhand import Answer, Supervisor
from leadhand.extension import load
from leadhand_teams.support.output import SupportAnswer
from leadhand_teams.support.routing import routed

FILES = {
    "guide.md": "# Badges\n\n## Print again\n\nChoose **Badges > Print again**.\n\n"
    "## Colours\n\nBadges are green or grey.\n\n# Error codes\n\n"
    "## GATE-3: hub not reached\n\nThe gate can't reach the hub at port 8123.\n\n"
    "## LIMIT-9: too many calls\n\nThe API answers 429 after 60 calls a minute for each badge.\n",
    "gates.yaml": "title: A gate is closed\nwhen: [gate stays closed, GATE-3]\nnodes:\n  start:\n"
    "    do: [Unplug the gate., Look at the lamp of the gate.]\n    ask: What colour is the lamp?\n"
    "    choices:\n      - {if: [lamp is red, GATE-3], label: red, then: off}\n"
    "      - {if: [lamp is green], label: green, then: on}\n"
    "  off: {cause: The hub is blocked., do: [Open port 8123.]}\n"
    "  on: {person: A fitter must look.}\n",
    "money.yaml": "title: Charged twice\nwhen: [charged twice]\nnodes:\n  start:\n"
    "    do: [Note both numbers.]\n    person: Only accounting may refund.\n",
}
LOG = "2026-11-01 08:00:04 INFO start\n2026-11-01 08:00:09 ERROR GATE-3 hub not reached\n"


def run(request: str, folder: Path, **more: str) -> tuple[Answer, SupportAnswer]:
    for name, text in {**FILES, **more}.items():
        (folder / name).write_text(text)
    answer = Supervisor(load("support")).run_sync(request, inputs=[folder])
    return answer, SupportAnswer.model_validate(answer.output)


def test_a_section_that_may_answer_opens_the_reply_and_makes_no_ticket(tmp_path: Path) -> None:
    answer, found = run("how do i print a badge again without paying for it twice?", tmp_path)
    assert [gap.why for gap in answer.gaps] == ["“Print again” may answer this, but need not"]
    assert "This may help: “Print again”, below." in found.reply
    assert not found.answered
    assert found.ticket is None
    assert "Please send us" not in found.reply


def test_a_code_in_an_attached_log_finds_its_runbook_and_its_section(tmp_path: Path) -> None:
    answer, found = run("Gate 4 is dark since we moved the router.", tmp_path, **{"gate.log": LOG})
    assert [task.worker for task in answer.tasks] == ["troubleshooter", "documenter"]
    assert "The likely cause: The hub is blocked." in found.reply
    assert found.sections[0].ref == "guide.md#gate-3-hub-not-reached"
    assert "can't reach the hub at port 8123" in found.reply


def test_the_errors_that_came_last_in_a_log_are_the_present_cause(tmp_path: Path) -> None:
    log = LOG + LOG.replace("08:00", "08:05") + "2026-11-01 09:30:00 ERROR LIMIT-9 too many calls\n"
    _, found = run("The gate fails since we moved the router.", tmp_path, **{"gate.log": log})
    assert [one.text for one in found.signs] == ["ERROR LIMIT-9 too many calls"]
    assert "60 calls a minute" in found.reply
    assert "Open port 8123" not in found.reply
    _, found = run("The gate failed with GATE-3, why?", tmp_path, **{"gate.log": log})
    assert "Open port 8123" in found.reply


def test_a_step_that_finds_out_what_the_request_says_is_left_out(tmp_path: Path) -> None:
    _, found = run("The gate stays closed, its lamp is red", tmp_path)
    assert "Open port 8123" in found.reply
    assert "Unplug the gate." in found.reply
    assert "Look at the lamp" not in found.reply
    _, found = run("The gate stays closed", tmp_path)
    assert "Look at the lamp" in found.reply
    assert not found.answered
    _, found = run("The gate stays closed, the lamp is green", tmp_path)
    assert found.answered


def test_a_reply_that_only_asks_is_not_complete(tmp_path: Path) -> None:
    asking = FILES["gates.yaml"].replace(
        "    do: [Unplug the gate., Look at the lamp of the gate.]\n", ""
    )
    answer, found = run("The gate stays closed", tmp_path, **{"gates.yaml": asking})
    assert "What helps depends on the answer to one question" in found.reply
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert gap.why == "what helps depends on the customer's answer: What colour is the lamp?"


def test_advice_for_any_product_gives_way_to_the_documents(tmp_path: Path) -> None:
    _, found = run("Our script gets HTTP 429 with LIMIT-9. What is wrong?", tmp_path)
    assert "60 calls a minute for each badge" in found.reply
    assert "the limit of your plan" not in found.reply


def test_a_complaint_gets_an_apology_and_its_ticket_says_what_it_is_about(tmp_path: Path) -> None:
    answer, found = run(
        "ENOUGH! The second time this year I was charged twice, 31.50 euros. Pay it back TODAY or "
        "my lawyer will write to you. - B. Holm",
        tmp_path,
    )
    assert [task.worker for task in answer.tasks] == ["escalator", "troubleshooter", "documenter"]
    assert "I am sorry for the trouble" in found.reply
    assert "Only accounting may refund." in found.reply
    assert "By which date" not in found.reply
    assert found.ticket is not None
    assert (
        found.ticket.title == "Request: The second time this year I was charged twice, 31.50 euros"
    )
    assert found.ticket.severity == "high"
    assert "ENOUGH" in found.ticket.need
    assert not any("Holm" in one for one in (found.ticket.need, *found.ticket.steps))


def test_another_product_is_named_and_makes_no_ticket(tmp_path: Path) -> None:
    _, found = run("Hi all, my Wordpress theme has a wrong font since the update", tmp_path)
    assert "Our documents say nothing about “Wordpress”." in found.reply
    assert found.ticket is None


def test_a_wish_beside_a_problem_gets_a_ticket_of_its_own(tmp_path: Path) -> None:
    answer, found = run(
        "The gate stays closed, the lamp is red. Also: could you make the beep longer, please?",
        tmp_path,
    )
    assert [one.worker for one in answer.tasks] == ["troubleshooter", "escalator", "documenter"]
    assert "The likely cause: The hub is blocked." in found.reply
    assert "passed your wish on" in found.reply
    assert found.ticket is not None
    assert found.ticket.title == "Feature request: Make the beep longer"
    assert "The gate stays closed" in found.ticket.need


def test_who_says_next_to_nothing_is_asked_what_it_is_about(tmp_path: Path) -> None:
    _, found = run("Hello", tmp_path)
    assert "To help you, we need to know a little more." in found.reply
    _, found = run("it doesnt work anymore. pls fix asap", tmp_path)
    assert "To help you, we need to know a little more." in found.reply
    assert "What exactly does not work" in found.reply
    assert found.ticket is not None
    assert found.ticket.severity == "normal"


def test_two_questions_in_one_sentence_are_both_answered(tmp_path: Path) -> None:
    _, found = run("How do I print a badge again and which colours do badges have?", tmp_path)
    assert "“Print again” and “Colours”, below." in found.reply
    assert "Choose **Badges > Print again**." in found.reply
    assert "Badges are green or grey." in found.reply


@pytest.mark.parametrize(
    "text",
    [
        "Somebody deleted all badges of tomorrow's visitors",
        "The reader smells burnt",
        "My password was stolen",
    ],
)
def test_lost_data_and_danger_go_to_a_person_at_once(tmp_path: Path, text: str) -> None:
    _, found = run(text, tmp_path)
    assert found.ticket is not None
    assert found.ticket.severity == "urgent"
    assert "looks at it at once" in found.reply


SAFETY = (
    "# Safety\n\n## Stolen secrets\n\nLock the secret under Keys.\n\n"
    "## If a token has leaked\n\nDelete the token under Keys.\n\n"
    "## Retention\n\nNames of visitors are kept for 30 days.\n\n"
    "## Install the reader\n\nThe reader runs on Fedora 40 and Windows 11.\n\n"
    "## Versions\n\nVersion 2 supports all readers.\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "A colleague posted our token in a public forum!",
        "Our tokens were visible on GitHub for a week, what now?",
        "I think the token is compromised",
    ],
)
def test_a_leaked_secret_is_urgent_and_gets_its_section(tmp_path: Path, text: str) -> None:
    _, found = run(text, tmp_path, **{"safety.md": SAFETY})
    assert found.sections[0].ref == "safety.md#if-a-token-has-leaked"
    assert "Delete the token under Keys." in found.reply
    assert found.ticket is not None
    assert found.ticket.severity == "urgent"


def test_documents_answer_what_is_asked_in_other_words(tmp_path: Path) -> None:
    _, found = run("How long do you store personal data?", tmp_path, **{"safety.md": SAFETY})
    assert "“Retention”, below." in found.reply
    assert "kept for 30 days" in found.reply
    assert found.ticket is None


def test_a_question_beside_others_that_nothing_answers_is_named_and_goes_to_a_person(
    tmp_path: Path,
) -> None:
    more = {"safety.md": SAFETY}
    _, found = run(
        "The gate stays closed, the lamp is red. Which Fedora versions run the reader?",
        tmp_path,
        **more,
    )
    assert "Fedora 40" in found.reply
    assert "do not answer" not in found.reply
    assert found.ticket is None
    asked = "Which languages do your hotline people speak?"
    answer, found = run(f"The gate stays closed, the lamp is red. {asked}", tmp_path, **more)
    assert answer.status == "partial"
    assert [gap.why for gap in answer.gaps] == [f"the documents do not answer this: {asked}"]
    assert "The likely cause: The hub is blocked." in found.reply
    assert f"Our documents do not answer this: “{asked}”" in found.reply
    assert found.ticket is not None
    assert "do not answer one of the questions" in found.ticket.why_a_person


def test_what_surrounds_a_letter_is_neither_matter_nor_evidence(tmp_path: Path) -> None:
    _, found = run(
        "Dear support team,\nour badge X-91 has a scratch. May we throw it away?\n"
        "Kind regards\nAda Berg\nPhone 040 12 34",
        tmp_path,
    )
    assert found.kind == "question"
    assert found.ticket is not None
    assert found.ticket.title == "Question: Our badge X-91 has a scratch"
    assert "Berg" not in found.ticket.need


def test_a_short_code_finds_the_section_whose_text_has_it(tmp_path: Path) -> None:
    table = "# Messages\n\n| Code | Meaning |\n|---|---|\n| E04 | Paper is stuck. |\n"
    _, found = run("our printer blinks and shows E04", tmp_path, **{"codes.md": table})
    assert found.sections[0].ref == "codes.md#messages"
    assert "Paper is stuck." in found.reply


def test_a_sentence_of_everyday_words_finds_nothing(tmp_path: Path) -> None:
    guide = "# Gates\n\nThe next visitor gets a new one.\n"
    _, found = run("Where do I get a new one and how often?", tmp_path, **{"new.md": guide})
    assert not found.answered


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("It would be a real relief if the list could be sorted by date.", "feature"),
        ("A map of all gates would be a huge help for us.", "feature"),
        ("Could you make the time limit configurable?", "feature"),
        ("We'd love to see a dark mode", "feature"),
        (
            "Hello, we want to check that a message really comes from you. What is signed?",
            "question",
        ),
        ("I need to move our data to another server, which files are these?", "question"),
        ("The list no longer opens since Tuesday", "bug"),
        ("Gate 3 is offline", "bug"),
    ],
)
def test_wishes_how_to_questions_and_problems_are_told_apart(text: str, kind: str) -> None:
    assert routed(text, []).kind == kind


def test_a_status_or_the_words_of_a_log_find_the_section_that_has_them(tmp_path: Path) -> None:
    guide = (
        "# Interface\n\n## Read badges\n\nCall the address of the badges.\n\n## Answers\n\n"
        "| Status | Meaning |\n|---|---|\n| 403 | The key may only read. |\n\n"
        "## Journal\n\n`bad seal` means that the clock of the gate is late.\n"
    )
    _, found = run("HTTPError: 403 Client Error when I write badges", tmp_path, **{"if.md": guide})
    assert found.sections[0].ref == "if.md#answers"
    log = (
        "2026-11-01 08:00:04 gate: http 404\n" + "2026-11-01 09:00:04 gate: bad seal, invalid\n" * 2
    )
    _, found = run("The gate fails, see the log", tmp_path, **{"if.md": guide, "gate.log": log})
    assert "the clock of the gate is late" in found.reply


def test_a_word_that_only_the_glossary_has_finds_what_it_means(tmp_path: Path) -> None:
    guide = (
        "# Words we use\n\n- **Badge**: the plastic card or key ring that opens a gate.\n\n"
        "# Lock a lost badge\n\nChoose **Lock**.\n\n# Paint the gate\n\nUse a brush.\n"
    )
    _, found = run("I lost the card from my key ring.", tmp_path, **{"a.md": guide})
    assert "Choose **Lock**." in found.reply


def test_a_number_of_what_no_document_has_is_not_answered(tmp_path: Path) -> None:
    _, found = run("How many litres does a green badge hold?", tmp_path)
    assert "Our documents do not answer this." in found.reply


def test_a_question_whether_something_works_is_told_first_that_it_does_not(tmp_path: Path) -> None:
    guide = (
        "# Readers\n\nReaders have a lamp. A badge of another maker can't be read by any gate.\n"
    )
    _, found = run("Can I read badges of another maker at gates?", tmp_path, **{"r.md": guide})
    assert "say: “A badge of another maker can't be read by any gate.”" in found.reply


def test_what_a_code_or_a_repaired_problem_requires_is_shown_too(tmp_path: Path) -> None:
    guide = (
        "# Interface\n\n## Answers\n\n| Status | Meaning |\n|---|---|\n| 401 | No key. |\n"
        "| 403 | The key may only read. Create a key that may write. |\n| 404 | Gone. |\n"
        "| 409 | Twice. |\n| 429 | Slow. |\n\n## Create a key\n\nChoose **Keys > New**, and read or"
        " write.\n\n## Release 2.4.0\n\nKnown problem: names with accents are not printed. Fixed in"
        " 2.4.1.\n\n## Install an update\n\nChoose **Update now** for the new version.\n"
    )
    _, found = run("HTTPError: 403 Client Error when I write badges", tmp_path, **{"if.md": guide})
    assert "Choose **Keys > New**" in found.reply
    assert "404" not in found.reply
    _, found = run("Since 2.4.0 names with accents are not printed", tmp_path, **{"if.md": guide})
    assert "Choose **Update now**" in found.reply


@pytest.mark.parametrize(
    "text",
    [
        "how do i print a badge from our Chromebook again without paying for it twice?",
        "We use a Chromebook. How do i print a badge again without paying for it twice?",
    ],
)
def test_a_product_in_which_ours_is_used_is_not_what_a_request_is_about(
    text: str, tmp_path: Path
) -> None:
    _, found = run(text, tmp_path)
    assert "This may help: “Print again”, below." in found.reply


def test_a_section_that_has_next_to_nothing_of_a_request_replaces_no_person(tmp_path: Path) -> None:
    _, found = run(
        "Our carpenter scratched the varnish of the parquet with a trolley, and the insurer wants "
        "him to print again a quotation for skirting, plinth, grout and wallpaper. Who pays the "
        "deductible?",
        tmp_path,
    )
    assert "Our documents do not answer this. I have passed it on" in found.reply
    assert found.ticket is not None


def test_only_questions_about_something_are_named_as_open(tmp_path: Path) -> None:
    told = "The gate stays closed, the lamp is red."
    _, found = run(f"{told} What is this? What do we have to do?", tmp_path)
    assert "The likely cause: The hub is blocked." in found.reply
    assert "do not answer" not in found.reply
    _, found = run(
        f"{told} Which languages do your hotline people speak and what colours do badges have?",
        tmp_path,
    )
    assert "answer this: “Which languages do your hotline people speak?” I have" in found.reply
