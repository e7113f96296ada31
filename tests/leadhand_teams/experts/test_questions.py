"""Everyday questions: which passage of the documents answers, and what is doubted."""

from pathlib import Path

import pytest

from leadhand import Supervisor
from leadhand.contracts.task import Batch, PlanRequest
from leadhand.teams.loader import load
from leadhand_teams.experts.drafts import opinion_on
from leadhand_teams.experts.fields import Expert
from leadhand_teams.experts.output import Answered
from leadhand_teams.experts.planning import plan

FILES = {
    "stall_agreement.md": """# Agreement on a market stall

## 1. Trial

During the trial season either side may end the agreement with one week's notice.

## 2. Ending

2.1 After the trial season the notice is two months. It must be in writing.

## 3. Stall

3.1 The stall must not be handed to another person. Selling alcohol is prohibited.

3.2 The stand fee is 45.00 a day. No fee is charged on days of storm.
""",
    "leaflet_ocuvis.txt": """PACKAGE LEAFLET
OCUVIS eye drops

How to use
Adults: two drops twice a day. Children under 12: one drop twice a day.

If you forget a dose
Use it as soon as you remember. Otherwise wait for the next time.
""",
    "scale_manual.md": """# Scale S2: manual

The scale shows E7 if it is not level.

## Taring

1. Empty the pan.
2. Press TARE for two seconds.
3. Wait until 0.00 is shown.

## Records

Weighings are stored for 30 days. Error logs are stored for 90 days.
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("expert", "question", "said"),
    [
        ("legal", "How much notice must I give once the trial season is over?", "two months"),
        ("legal", "Can my mate run the stall while I travel to Spain?", "to another person"),
        ("legal", "How much is the stand fee?", "45.00 a day. No fee is charged on days"),
        ("medical", "I forgot my Ocuvis this morning. Can I still use it tonight?", "soon as you"),
        ("medical", "My son is 7. How many drops of Ocuvis may he have?", "Children under 12"),
        ("technical", "How do I tare the scale?", "1. Empty the pan. 2. Press TARE for two sec"),
        ("technical", "The weighing machine displays E7, what's up?", "shows E7"),
    ],
)
def test_a_question_in_other_words_is_answered_by_the_passage_for_its_case(
    folder: str, expert: Expert, question: str, said: str
) -> None:
    found = opinion_on(question, [folder], expert)
    assert found.answered, found.lack
    assert said in found.answer


def test_a_word_that_is_read_as_another_one_is_named(folder: str) -> None:
    found = opinion_on("May I flog whisky at the stall?", [folder], "legal")
    assert "Selling alcohol is prohibited." in found.answer
    assert found.notes == [
        "“flog” is not in the documents; read as “Selling”.",
        "“whisky” is not in the documents; read as “alcohol”.",
    ]


def test_a_passage_in_other_words_or_without_a_word_of_the_question_is_doubted(folder: str) -> None:
    other = opinion_on("Is beer OK with Ocuvis?", [folder], "medical")
    assert other.ask == "The passage does not have “Ocuvis”: is it about that?"
    text = "\n\nIf you drink\nAvoid alcohol on days of treatment.\n"
    Path(folder, "leaflet_ocuvis.txt").write_text(FILES["leaflet_ocuvis.txt"] + text)
    found = opinion_on("Is a glass of whisky OK with Ocuvis?", [folder], "medical")
    assert "Avoid alcohol" in found.answer
    assert "only by words that mean nearly the same" in str(found.ask)
    lacks = opinion_on("Can the stall be shared with my neighbour?", [folder], "legal")
    assert lacks.ask == "The passage does not have “neighbour”: is it about that?"
    assert opinion_on("How much is the stand fee?", [folder], "legal").ask is None


@pytest.mark.parametrize(
    ("question", "doubt"),
    [
        ("Is selling alcohol prohibited if I want to get rid of it?", None),
        ("Is selling alcohol all right?", None),
        ("How much is the stand fee if I bring a trailer?", "“trailer”"),
        ("My cousin has a trailer. What is the stand fee while his trailer is here?", "“trailer”"),
    ],
)
def test_only_nouns_names_and_conditions_are_doubted(
    folder: str, question: str, doubt: str | None
) -> None:
    found = opinion_on(question, [folder], "legal")
    assert found.answered
    assert (doubt is None and found.ask is None) or str(doubt) in str(found.ask)


def test_what_is_forbidden_is_quoted_before_what_is_allowed_in_another_case(folder: str) -> None:
    leaflet = """PACKAGE LEAFLET
NARVEX tablets

Do not take Narvex
- if you have severe gout;

Talk to your doctor before taking Narvex
- if you have mild gout: you may need more water;
"""
    Path(folder, "leaflet_narvex.txt").write_text(leaflet)
    found = opinion_on("Can I take Narvex if I have gout?", [folder], "medical")
    assert found.answer.startswith("“- if you have severe gout;” (below “Do not take Narvex”)")
    assert "mild gout" in found.answer
    assert "which of them is for your case?" in str(found.ask)


@pytest.mark.parametrize(
    ("between", "is_doubted"), [("", False), ("\n\n", False), ("\n\n## Weekends\n\n", True)]
)
def test_a_ban_and_its_exception_in_one_section_are_no_contradiction(
    tmp_path: Path, between: str, is_doubted: bool
) -> None:
    ban, exception = (
        "Members must not fire the kiln at night.",
        "At weekends members may fire the kiln at night until two.",
    )
    text = f"# Rules of the studio\n\n## Kiln\n\n{ban} {between}{exception}\n"
    (tmp_path / "studio_rules.md").write_text(text)
    question = "May I fire the kiln at night on a weekend?"
    found = opinion_on(question, [str(tmp_path)], "legal")
    assert ban in found.answer
    assert exception in found.answer
    assert ("which of them is for your case?" in str(found.ask)) == is_doubted


def test_a_question_of_no_field_stays_without_an_expert(folder: str) -> None:
    Path(folder, "fund.md").write_text("# Fund\n\nDerivatives may be used for hedging.\n")
    assert ran(folder, "What is the derivative of x squared times sin x?").expert is None


def test_a_noun_of_no_document_is_named_above_the_nearest_passage(folder: str) -> None:
    found = opinion_on("What is the fine for a dirty stall carpet?", [folder], "legal")
    assert not found.answered
    assert found.lack == "not in the documents: “carpet”"


def ran(folder: str, question: str) -> Answered:
    team = load("experts")
    made = plan(PlanRequest(question, {"inputs": [Batch((folder,))]}), team)
    return Answered.model_validate(Supervisor(team).run_sync(plan=made).output)


def test_the_documents_choose_the_expert_and_what_must_be_checked(folder: str) -> None:
    found = ran(folder, "May I pass Ocuvis on, and how much notice ends the stall agreement?")
    assert {found.expert, found.secondary} == {"medical", "legal"}
    assert any("pharmacist" in check for check in found.professional_check)
    assert ran(folder, "Which film won the cup?").expert is None


def test_another_passage_that_may_be_meant_is_shown_and_asked_about(folder: str) -> None:
    Path(folder, "cellar_lease.md").write_text("# Lease\n\nKeys are stored for 12 months.\n")
    Path(folder, "hotel_manual.md").write_text(
        "# Hotel\n\nGuests have bags stored until noon of day 2.\n"
    )
    found = ran(folder, "How long are they stored?")
    assert "Keys are stored for 12 months." in found.answer
    assert "Or is this meant: “Guests have bags" in str(found.question)


STORIES = {
    "club_rules.md": """# Rules of the rowing club

## Boats

A member must not lend a club boat. Boats are cleaned after use.

| Length of membership | Yearly fee | Notice |
|---|---|---|
| Up to 2 years | 80.00 | 2 weeks |
| More than 2 years, up to 6 years | 60.00 | 5 weeks |

## Guests

A member may bring a guest of at least 12 years on a river boat for up to 3 hours.
""",
    "club_rules_old.md": """# Rules of the rowing club, edition of 2019

| Length of membership | Yearly fee | Notice |
|---|---|---|
| Up to 6 years | 90.00 | 1 week |
""",
    "engine_manual.md": """# Manual of the launch

| Code | Meaning | What to do |
|---|---|---|
| F-12 | No fuel | Open the tap |
| F-21 | Too hot | Stop the engine and wait |
""",
}


@pytest.mark.parametrize(
    ("expert", "question", "said"),
    [
        (
            "legal",
            "I joined the club a bit over three years ago and we are moving north. It was a good "
            "time. What notice do I have to give?",
            "| More than 2 years, up to 6 years | 60.00 | 5 weeks |",
        ),
        (
            "legal",
            "My nephew is 14 and stays with us. He'd love the river. May I bring him on a boat?",
            "a guest of at least 12 years",
        ),
        (
            "technical",
            "We were on the water near the weir. The engine died and it says F-21. What do I do?",
            "| F-21 | Too hot |",
        ),
    ],
)
def test_a_story_is_answered_by_the_row_or_limit_for_its_case(
    tmp_path: Path, expert: Expert, question: str, said: str
) -> None:
    for name, text in STORIES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    text = STORIES["club_rules.md"] + "\nThese rules replace the edition of 2019.\n"
    (tmp_path / "club_rules.md").write_text(text, encoding="utf-8")
    assert said in opinion_on(question, [str(tmp_path)], expert).citations[0].quote


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("We were out all day and it was fun. Now it blinks F21. What now?", "F-21"),
        ("Which film shall we watch while it says F-12?", "F-12"),
    ],
)
def test_a_code_chooses_the_expert_of_its_document_and_comes_first(
    tmp_path: Path, question: str, code: str
) -> None:
    for name, text in STORIES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = ran(str(tmp_path), question)
    assert (found.expert, found.secondary, found.answered) == ("technical", None, True)
    assert found.citations[0].quote.startswith(f"| {code} |")


def test_a_code_of_no_document_chooses_no_expert(folder: str) -> None:
    assert ran(folder, "Who won the G20 cup?").expert is None


OLD, NEW = (
    "# Handbook of the orchard\n\nEdition of {}\n\nPickers may take home {} kg of apples a week.\n"
    "Ladders {}.\n".format(*said)
    for said in (("March 2023", 5, "are checked daily"), ("May 2025", 8, "stand in the barn"))
)


@pytest.mark.parametrize("says", ["", "This handbook replaces all earlier editions.\n"])
def test_the_newer_edition_holds_and_the_older_one_is_marked(tmp_path: Path, says: str) -> None:
    (tmp_path / "a.md").write_text(OLD.replace("Edition of March 2023\n\n", "") if says else OLD)
    (tmp_path / "b.md").write_text(NEW + says)
    found = opinion_on("How many apples may pickers take home?", [str(tmp_path)], "legal")
    assert found.answer.startswith("“Pickers may take home 8 kg")
    assert [(one.settled, one.other.ref[:4]) for one in found.disagreements] == [(True, "a.md")]
    assert found.ask is None
    old = opinion_on("Are ladders checked daily?", [str(tmp_path)], "legal")
    assert "Ladders are checked daily." in old.answer
    assert old.notes[-1].startswith("Replaced: a.md, by b.md.")


def test_accounts_of_two_years_do_not_replace_each_other(tmp_path: Path) -> None:
    for year, rent in (2023, 700), (2024, 900):
        text = f"# Annual report {year}\n\nThe orchard paid a rent of EUR {rent} in {year}.\n"
        (tmp_path / f"report_{year}.md").write_text(text)
    found = opinion_on("What rent did the orchard pay in 2023?", [str(tmp_path)], "financial")
    assert "EUR 700" in found.answer
    assert "Replaced" not in " ".join(found.notes)
