"""The text of an answer that no model wrote: what was asked for, then how it came about."""

from leadhand import Handoff, Result, Supervisor, Team, Worker
from leadhand.contracts.team import TaskTemplate

PARTS = 28
TEXT = "Sold in parts\nof the year, " + "and so on " * 40


def counts(handoff: Handoff) -> object:
    if handoff.task_id == "part-1":
        return Result(output={"sold": 1}, summary=TEXT)
    return {"sold": 1, "rows": list(range(50))}


def notes(handoff: Handoff) -> str:
    return "All shops were open."


def total(handoff: Handoff) -> dict[str, int]:
    return {"total": len(handoff.inputs)}


def team(**works: object) -> Team:
    parts = [f"part-{n}" for n in range(1, PARTS + 1)]
    return Team(
        "sales",
        workers=[
            Worker("count", "Counts", run=counts),
            Worker("total", "Adds up", run=works.get("total", total)),  # pyright: ignore[reportArgumentType, reportCallIssue]
            Worker("note", "Notes", run=notes),
        ],
        template=[
            *(TaskTemplate(id, "count", f"Count {id}") for id in parts),
            TaskTemplate("sum", "total", "Add up", depends_on=parts),
            TaskTemplate("also", "note", "Note what else matters"),
        ],
        planner="template",
    )


def test_what_no_other_task_used_comes_first_and_in_full_and_the_rest_is_a_line_each() -> None:
    answer = Supervisor(team()).run_sync("How many?")
    assert answer.status == "complete"
    results, _, rest = answer.answer.partition("\n\n## How this came about\n\n")
    first, second = results.split("\n\n## also (note)\n\n")
    assert first == '## sum (total)\n\n    {\n      "total": 28\n    }'
    assert second == "All shops were open."
    lines = rest.splitlines()
    assert len(lines) == PARTS
    assert lines[0].startswith("- part-1 (count): Sold in parts of the year, and so on")
    assert lines[1].startswith('- part-2 (count): { "sold": 1, "rows": [ 0, 1,')
    assert all(line.endswith("…") and len(line) < 200 for line in lines)
    assert isinstance(answer.output, dict)
    assert len(answer.output) == PARTS + 2


def test_what_a_task_without_a_result_was_to_use_is_given_in_full() -> None:
    def fails(handoff: Handoff) -> object:
        raise ValueError("no")

    answer = Supervisor(team(total=fails)).run_sync("How many?")
    assert answer.status == "partial"
    assert "How this came about" not in answer.answer
    assert answer.answer.count("## part-") == PARTS


def test_a_nested_team_has_its_own_account_of_how_its_answer_came_about() -> None:
    outer = Team("o", workers=[Worker("net", "Sales", team=team())], planner="template")
    answer = Supervisor(outer).run_sync("How many?")
    assert answer.answer.startswith("## sum (total)")
    assert "## How this came about" in answer.answer
