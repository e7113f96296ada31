"""The team as users run it: plans by the request, the report, contradictions and gaps."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from leadhand import Answer, Supervisor
from leadhand.contracts.task import Batch
from leadhand.extension import load
from leadhand_teams.competitors.output import Competition
from leadhand_teams.competitors.report import files

SAMPLE = Path(__file__).parents[3] / "src" / "leadhand_teams" / "competitors" / "samples"
ACME = "# Acme\n\n## Pro\n$20 per user per month\n- API access\n- No audit log\n"
GLOBEX = "# Globex\n\n- API access\n- Audit log\n"


def asked(request: str, *paths: Path) -> Answer:
    batches = {"inputs": [Batch(artifacts=tuple(map(str, paths)))]} if paths else {}
    return Supervisor(load("competitors")).run_sync(request, batches=batches)


def written(folder: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def found(answer: Answer) -> Competition:
    return Competition.model_validate(answer.output)


def test_the_sample_fills_every_promised_list() -> None:
    request = (SAMPLE / "request.txt").read_text(encoding="utf-8").splitlines()[0]
    inputs = sorted(path for path in SAMPLE.iterdir() if path.name != "request.txt")
    answer = asked(request, *inputs)
    assert answer.status == "complete"
    output = cast("Mapping[str, list[object]]", answer.output)
    assert all(output[name] for name in ("facts", "matrix", "prices", "changes"))
    assert "Renamed, not gone: Starter is now Essentials." in answer.answer
    assert {task.worker for task in answer.tasks} == {"researcher", "analyst", "writer"}


def test_two_requests_that_want_different_work_have_different_plans() -> None:
    prices = {task.id for task in asked("What do they cost?", SAMPLE).tasks}
    features = {task.id for task in asked("Which features do they have?", SAMPLE).tasks}
    assert prices ^ features == {"prices", "matrix"}
    assert "draft" in {task.id for task in asked("Draft a memo on their prices", SAMPLE).tasks}


def test_only_the_competitors_that_the_request_names_are_researched() -> None:
    answer = asked("What does Quillhouse cost?", SAMPLE)
    assert {fact.competitor for fact in found(answer).facts} == {"quillhouse"}


def test_every_number_of_the_report_is_in_its_source() -> None:
    answer = asked("What do they cost, who has what, what changed?", SAMPLE)
    for fact in found(answer).facts:
        name, _, line = fact.ref.rpartition(":")
        source = (SAMPLE / name).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert fact.value.removeprefix("yes").strip(" ()") in source or fact.value == "no"


def test_a_web_page_that_may_not_be_read_is_a_gap() -> None:
    answer = asked("What does https://example.com/pricing cost?")
    assert answer.status == "partial"
    assert any("LEADHAND_WEB=1" in gap.why for gap in answer.gaps)


def test_a_column_may_say_what_the_prices_are_for(tmp_path: Path) -> None:
    table = "vendor,plan,price (USD),billing\n"
    table += "Mistral,Pro,96,per user per year\nOak,One,9,per user per month\n"
    answer = asked("What do they cost?", written(tmp_path, {"market.csv": table}))
    found_prices = found(answer).prices
    prices = {(one.competitor, one.comparable, one.comparable_per) for one in found_prices}
    assert prices == {("mistral", 8.0, "seat per month"), ("oak", 9.0, "seat per month")}


def test_what_is_announced_is_not_there_yet(tmp_path: Path) -> None:
    kestrel = "| Feature | Free | Plus |\n|---|---|---|\n| Audit log | No | Coming soon |\n"
    folder = written(tmp_path, {"kestrel.md": kestrel, "globex.md": GLOBEX})
    cells = found(asked("Who has an audit log?", folder)).matrix
    said = {(cell.competitor, cell.has) for cell in cells if "udit" in cell.attribute}
    assert said == {("kestrel", "no"), ("globex", "yes")}


def test_the_writer_drafts_what_decides_and_the_report_says_what_was_saved(tmp_path: Path) -> None:
    folder = written(tmp_path, {"acme.md": ACME, "globex.md": GLOBEX})
    answer = asked("Draft a memo on who has what", folder)
    assert found(answer).draft == ["Only Globex has audit log [globex.md:4]."]
    assert "was done in" in cast("str", files(answer)["report.html"])
