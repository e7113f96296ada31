"""The answer of a run: figures computed in DuckDB, texts beside them, and what models add."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.research.folders import FOLDERS
from benchmarks.research.forms import Folder, Given, verdict, write
from benchmarks.research.third_folders import gyms, lending, timesheets
from pydantic import JsonValue

from leadhand import InputError, Plan, Result, Supervisor, Task, Team
from leadhand.contracts.answer import Answer
from leadhand.extension import load
from leadhand.extension.roles import Batch, PlanRequest, TaskResult
from leadhand_teams.research.answering import answer, combined
from leadhand_teams.research.finding import AskedFiles, of_tables, of_texts
from leadhand_teams.research.output import ResearchAnswer, ResearchFinding
from leadhand_teams.research.planning import plan
from leadhand_teams.research.report import files
from leadhand_teams.shared.reading import read
from tests.leadhand_teams.research.samples import asked

FOLDER = {one.name: one for one in FOLDERS}
TEAM: Team[JsonValue] = load("research")


@pytest.fixture(scope="module")
def startup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("startup")
    write(FOLDER["startup"], path)
    return path


def run(question: str, path: Path) -> Answer:
    return Supervisor(TEAM).run_sync(question, inputs=[path])


def test_a_run_answers_which_and_why_over_tables_and_notes(startup: Path) -> None:
    answer = run("Which plan grew fastest, and why?", startup)
    made = ResearchAnswer.model_validate(answer.output)
    assert (answer.status, made.answered, made.value) == ("complete", True, "Enterprise")
    assert answer.answer.startswith("Enterprise grew fastest: mrr from 12,000")
    assert "audit log" in made.answer
    assert made.sql
    assert made.sql in answer.answer
    assert {one.ref.partition(":")[0] for one in made.citations} == {"mrr.csv", "board.md"}
    written = files(answer)
    assert set(written) == {"report.html", "report.md"}
    assert "audit log" in str(written["report.html"])


@pytest.mark.parametrize("folder", [gyms(), lending(), timesheets()], ids=lambda one: one.name)
def test_files_as_people_keep_them_are_understood(folder: Folder, tmp_path: Path) -> None:
    """Text right below its heading, Q2 without a year, yes and no columns, two rules compared."""
    write(folder, tmp_path)
    given = AskedFiles(read([tmp_path]))
    for question in folder.questions[:7]:
        found = of_tables(question.text, given)
        made = combined(question.text, found, of_texts(question.text, given, found.subjects))
        cited = [one.ref for one in made.citations]
        status = "complete" if made.answered else "partial"
        judged = Given(made.answer, made.answered, made.value, status, made.doubts, cited)
        assert verdict(question, judged) == "right", question.text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many jobs have not been paid?", "2 jobs (Paid? no)"),
        ("By how many percent did labour grow from Q1 2024 to Q1 2025?", "grew by 50.0 %"),
        ("Which shop had the lowest labour in Q1 2024?", "Harbor Labour has the lowest"),
        ("What is the average hours of work at Harbor Labour?", "average Hours of work"),
        ("What was the labour of the heaviest bike?", "Not in your files: “bike”"),
        ("What was the labour in the last 14 months of 2025?", "Not in your files: “14”"),
        ("What was the labour in 2031?", "no row has “2031”"),
        ("What is Mr Lowe's salary?", "Not in your files: “salary”"),
    ],
)
def test_no_word_that_changes_the_question_is_passed_over(
    question: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "jobs.csv").write_text(
        "Year;Quarter;Shop;Labour;Hours of work;Paid?\n2024;Q1;Harbor Labour;100;3;no\n"
        "2024;Q1;Mill;140;4;yes\n2025;Q1;Harbor Labour;160;5;yes\n2025;Q1;Mill;200;6;no\n"
    )
    (tmp_path / "notes.md").write_text("# Staff\nMr Reyes leaves in January 2031. Mr Lowe stays.\n")
    assert words in asked(question, tmp_path).answer


@pytest.mark.parametrize(
    ("question", "words", "answered"),
    [
        ("Looking at the list, how many kids are enrolled right now?", "2 kids (Status", True),
        ("Which home town do most of our children come from?", "Altdorf has the highest", True),
        ("How much money was set aside for Music in 2025?", "1,100 EUR", True),
        ("Which cost centre grew most from 2024 to 2025?", "Music grew fastest: Budget", True),
        ("How many visitors came in February 2024?", "150: total visitors", True),
        ("Which house drew the biggest crowd in 2024?", "Print Room has the highest", True),
        ("Which house had more than 230 visitors in 2024?", "Print Room 240", True),
        ("Which fruit had most visitors in 2024?", "Not in your files: “fruit”.", False),
        ("How many visitors did the Annex have?", "Not in your files: “Annex”.", False),
        ("How many visitors had umbrellas in 2024?", "“umbrellas”. Without this word: 430", False),
        ("Which house had most visitors in 2023, and in which town?", "Not answered: “in", True),
        ("Which pupil has the latest entry, and where does she live?", "Altdorf: Home town", True),
        ("For how long do we have to hang on to pupil files?", "ten years: ", True),
    ],
)
def test_everyday_words_are_read_and_only_what_names_something_refuses(
    question: str, words: str, answered: bool, tmp_path: Path
) -> None:
    for name, text in {
        "pupils.csv": "Pupil,Home town,Status,Entry\nAda,Altdorf,enrolled,2023-08-01\n"
        "Bo,Birkenau,enrolled,2023-09-01\nCy,Altdorf,left,2024-02-01\n",
        "budget.csv": "Cost centre;Budget 2024;Budget 2025\nMusic;900 €;1.100 €\nIT;800 €;820 €\n",
        "visitors.csv": "Year,House,January,February\n2023,Print Room,1,2\n2023,Main Building,3,4\n"
        "2024,Print Room,140,100\n2024,Main Building,140,50\n",
        "policy.md": "# Files\n\nPupil files are kept for ten years. A fee of 5 euros is due.\n",
    }.items():
        (tmp_path / name).write_text(text)
    made = asked(question, tmp_path)
    assert words in made.answer
    assert made.answered == answered


def test_what_is_in_no_file_comes_first_and_the_run_is_partial(startup: Path) -> None:
    answer = run("How many customers does the Gold plan have?", startup)
    made = ResearchAnswer.model_validate(answer.output)
    assert (answer.status, made.answered, made.not_found) == ("partial", False, ("Gold",))
    assert made.answer == "Not in your files: “Gold”."


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What share of the MRR did Team have in June 2025?", 12_570 / 38_430 * 100),
        ("What was the churn of Basic in 2024?", 6.1),
        ("What is the total churn in 2024?", 3.1),
    ],
)
def test_figures_are_computed_and_rates_are_not_summed(
    startup: Path, question: str, value: float
) -> None:
    made = asked(question, startup)
    assert made.value == pytest.approx(value)
    assert made.unit == "%"
    assert bool(made.doubts) == ("total" in question)


def test_a_role_that_no_row_has_is_not_given_to_another_person(tmp_path: Path) -> None:
    write(FOLDER["staff"], tmp_path)
    made = asked("Who is the head of Human Resources?", tmp_path)
    assert (made.answered, made.value) == (False, None)
    made = asked("How many days of paid leave do employees have?", tmp_path)
    assert made.value == "28"
    assert [one.ref for one in made.citations] == ["handbook.md:5"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much have jobs in Leeds earned us?", "A guess: 700: total Price (Town Leeds)."),
        ("What was the sum of Price in 2024?", "500: total Price (2024)."),
        ("Which town had the highest Price in 2024?", "Hull has the highest Price (2024): 300."),
        ("What was the total Price in 2025 compared with 2024?", "Price rose by 100, from 500 in"),
        ("What does Nurse Bell earn?", "No answer was found"),
        ("What was the sum of Price from next March?", "No answer was found"),
    ],
)
def test_money_is_no_other_figure_and_a_year_no_year_of_another_name(
    tmp_path: Path, question: str, said: str
) -> None:
    rows = "Drink by,Date,Town,Size kW,Price\n"
    rows += "2030,2024-02-03,Leeds,7,200\n2024,2024-04-05,Hull,8,300\n"
    rows += "2024,2025-03-01,Leeds,9,500\n2031,2025-06-01,York,6,100\n"
    (tmp_path / "jobs.csv").write_text(rows, encoding="utf-8")
    note = "Staff meeting.\nNurse Bell orders an autoclave from Medivet for 3,450 euros.\n"
    (tmp_path / "minutes.txt").write_text(note, encoding="utf-8")
    assert asked(question, tmp_path).answer.startswith(said)


def test_a_question_that_was_not_answered_beside_another_is_named(tmp_path: Path) -> None:
    question = "What share of appointments in the South were no-shows, and in the North?"
    given = run(question, visits(tmp_path))
    made = ResearchAnswer.model_validate(given.output)
    assert (given.status, made.value, made.not_answered) == ("partial", 19.0, ("in the North",))
    assert "in the North" in given.gaps[0].why
    made = asked("How many appointments were there, and how many parking lots?", tmp_path)
    assert (made.value, made.not_answered) == (330, ("how many parking lots",))
    made = asked("What is the difference in no-shows between North, and in the South?", tmp_path)
    assert made.not_answered == ()


@pytest.mark.parametrize(
    ("question", "word", "is_nowhere"),
    [
        ("What fee do patients in the South pay?", "South", False),
        ("What is the no-show rate in the East?", "East", True),
        ("How many nurses work on night duty?", "duty", True),
    ],
)
def test_only_what_no_file_has_is_said_to_be_in_none(
    tmp_path: Path, question: str, word: str, is_nowhere: bool
) -> None:
    (visits(tmp_path) / "policy.md").write_text(
        "In the North patients pay a fee of 25 euros.\n\n# Opening\n\nThe South is closed today.\n"
    )
    made = asked(question, tmp_path)
    assert (made.answered, word in " ".join(made.not_found)) == (False, True)
    assert made.answer.startswith("Not in your files" if is_nowhere else "No answer was found")


@pytest.mark.parametrize(
    ("question", "value", "words"),
    [
        ("How did the average waiting time change from January to December 2025?", 4.0,
         "from 15 in January 2025 to 19"),
        ("How much do we spend on nurses' salaries in total?", 100_000, "100,000 EUR"),
        ("Who owns the Acme account?", "Ines Vogel", "Owner"),
    ],
)  # fmt: skip
def test_means_sums_and_owners(
    tmp_path: Path, question: str, value: float | str, words: str
) -> None:
    made = asked(question, visits(tmp_path))
    assert made.value == (value if isinstance(value, str) else pytest.approx(value))
    assert words in made.answer


@pytest.mark.parametrize(
    "question",
    [
        "Which clinic has the highest no-show rate?",
        "How many accounts are below 3 km?",
        "How many no-shows were there last month?",
    ],
)
def test_what_the_grammar_does_not_have_is_refused(tmp_path: Path, question: str) -> None:
    made = asked(question, visits(tmp_path))
    assert not made.answered
    assert made.not_found


def test_tables_and_texts_that_say_otherwise_are_a_conflict(tmp_path: Path) -> None:
    for name, units in (("old", 5), ("new", 7)):
        (tmp_path / f"{name}.csv").write_text(f"shop,units\nPorto,{units}\nBraga,9\n")
        (tmp_path / f"{name}.md").write_text(f"The rent of the kiosk is {units} euros.\n")
    given = run("What were the units of Porto?", tmp_path)
    assert "says otherwise" in given.conflicts[0].about
    given = run("What is the rent of the kiosk?", tmp_path)
    assert "new.md:1" in given.conflicts[0].about
    assert "old.md:1" in given.conflicts[0].about


def test_a_profile_of_the_tables_is_shown_only_if_it_is_asked_for(tmp_path: Path) -> None:
    write(FOLDER["german"], tmp_path)
    made = asked("Which columns are there?", tmp_path)
    assert made.figures is not None
    assert ("umsatz.csv", "Filiale", "VARCHAR") in [row[:3] for row in made.figures.rows]
    assert asked("What is the total Umsatz?", tmp_path).figures is None


def planned(question: str, *paths: Path) -> list[tuple[str, tuple[str, ...]]]:
    batches = {"inputs": [Batch(tuple(map(str, paths)))]} if paths else {}
    made = plan(PlanRequest(question, batches), TEAM)
    return [(task.worker, tuple(task.depends_on)) for task in made.tasks]


def test_the_plan_has_the_workers_that_the_question_and_files_need(startup: Path) -> None:
    both, table = [startup / name for name in ("mrr.csv", "board.md")], startup / "mrr.csv"
    assert planned("Which plan grew fastest?", *both) == [("analyst", ()), ("researcher", ())]
    assert planned("Which plan grew, and why?", *both)[1] == ("researcher", ("tables",))
    assert planned("Which plan grew fastest?", table) == [("analyst", ())]
    assert planned("Who supplies?", startup / "pricing.pdf") == [("researcher", ())]


def test_without_readable_files_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file that was handed in can be read"):
        planned("What?", tmp_path)


def result(worker: str, path: Path, added: JsonValue) -> TaskResult:
    """A worker's draft that found nothing, with what its model added."""
    task = Task(id=worker, worker=worker, intent="x", artifacts=[str(path)])
    output: dict[str, JsonValue] = {**ResearchFinding(nowhere=("x",)).model_dump(mode="json")}
    return TaskResult(task, worker, "completed", Result(output={**output, "added": added}), None)


def answered(results: Sequence[TaskResult]) -> ResearchAnswer:
    made = answer(Plan(goal="What?", tasks=[one.task for one in results]), results)
    return ResearchAnswer.model_validate(made.output)


def test_a_models_query_is_run_again_and_its_figures_must_be_there(startup: Path) -> None:
    sql = "SELECT max(mrr) FROM mrr"
    right: JsonValue = {"answer": "The highest MRR is 22,880.", "sql": sql}
    made = answered([result("analyst", startup / "mrr.csv", right)])
    assert (made.answered, made.value, made.sql) == (True, 22_880, sql)
    assert made.doubts
    wrong: list[JsonValue] = [
        {"answer": "It is 99,999.", "sql": sql},
        {"answer": "It is 22,880.", "sql": "DROP TABLE mrr"},
        {"answer": "It is 22,880.", "sql": ""},
        "nonsense",
    ]
    for added in wrong:
        assert not answered([result("analyst", startup / "mrr.csv", added)]).answered


def test_a_models_statement_is_kept_if_its_quote_is_in_the_file(startup: Path) -> None:
    def said(quote: str) -> JsonValue:
        text = "Two engineers are hired."
        return {"statements": [{"text": text, "ref": "board.md:7", "quote": quote}]}

    made = answered([result("researcher", startup, said("We hire two engineers in autumn."))])
    assert (made.answered, made.answer) == (True, "Two engineers are hired.")
    made = answered([result("researcher", startup, said("We hire nine engineers in spring."))])
    assert not made.answered
    assert made.notes


def test_the_answer_stands_any_subset_of_results(startup: Path) -> None:
    task = Task(id="a", worker="analyst", intent="x")
    lost = TaskResult(task, "analyst", "failed", None, "it failed")
    assert not answered([lost]).answered
    made = answer(Plan(goal="What?", tasks=[task]), [])
    assert ResearchAnswer.model_validate(made.output).answer == "No answer was found in your files."


def visits(path: Path) -> Path:
    """Two measures of one unit, staff and their salaries, and accounts."""
    tables = {
        "visits.csv": """week,clinic,appointments,no_shows,avg_wait_min
2025-01-06,North,80,8,10
2025-01-06,South,120,30,20
2025-12-01,North,50,4,16
2025-12-01,South,80,8,22
""",
        "staff.csv": """site;role;fte;salary_eur
North;nurse;9,0;51.000,00
South;nurse;7,5;49.000,00
North;physician;4,0;90.000,00
""",
        "accounts.csv": """Account,Owner,Amount
Acme,Ines Vogel,71000
Birch,Tom Hale,20000
Corona,Ines Vogel,65000
""",
    }
    for name, text in tables.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_a_share_of_another_column_is_divided_by_that_column(tmp_path: Path) -> None:
    every = asked("What share of appointments were no-shows?", visits(tmp_path))
    south = asked("What percentage of appointments in the South were no-shows?", tmp_path)
    assert (every.value, south.value) == (pytest.approx(50 / 330 * 100), 19.0)
    of_one = asked("What share of the no-shows did the South have?", tmp_path)
    assert of_one.value == pytest.approx(38 / 50 * 100)


def test_the_highest_of_nothing_that_a_column_names_is_refused(tmp_path: Path) -> None:
    assert not asked("Which physician costs most?", visits(tmp_path)).answered
