"""The sample of every ready-made team, without a model and with one that makes things up."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from leadhand import Answer, InputError, Supervisor, Team
from leadhand.contracts.task import Batch
from leadhand.extension import load
from leadhand.page.report import report_files
from leadhand.teams.samples import sample_of
from leadhand.testing import ScriptedModel

TEAMS = Path(__file__).parents[2] / "src" / "leadhand_teams"
WITH_SAMPLES = sorted(file.parents[1].name for file in TEAMS.glob("*/samples/request.txt"))
PROMISED = {
    "competitors": ("facts", "matrix", "prices", "changes"),
    "contracts": ("clauses", "checks", "risks", "compared"),
    "curriculum": ("concepts", "prerequisites", "order", "lessons", "problems"),
    "experts": ("expert", "answered", "answer", "citations", "professional_check"),
    "launch": ("elasticities", "survey", "economics", "schedule", "copy", "warnings"),
    "patient": ("subject", "problems", "medications", "labs", "flags", "contradictions"),
    "portfolio": ("measures", "weights", "orders", "cash", "constraints"),
    "research": ("answer", "answered", "value", "citations"),
    "support": ("reply", "route", "kind", "sections", "ticket"),
}
"""The fields of each team's answer that its sample must fill."""
MADE_UP = "The moon is made of 4711 cheeses."


def run(team: Team, name: str) -> Answer:
    request, inputs = sample_of(TEAMS / name)
    batches = {"inputs": [Batch(artifacts=tuple(map(str, inputs)))]}
    return Supervisor(team).run_sync(request, batches=batches)


def written(team: Team, answer: Answer) -> Mapping[str, str | bytes]:
    assert callable(team.report)
    return team.report(answer)


@pytest.fixture(scope="module", params=WITH_SAMPLES)
def name(request: pytest.FixtureRequest) -> str:
    return cast("str", request.param)


@pytest.fixture(scope="module")
def by_code(name: str) -> Answer:
    return run(load(name), name)


def test_every_promised_field_is_filled(name: str, by_code: Answer) -> None:
    output = cast("Mapping[str, object]", by_code.output)
    empty = {field for field in PROMISED[name] if output[field] in (None, "", [], {})}
    assert not empty
    assert by_code.engine == "deterministic"
    assert by_code.status in ("complete", "partial")


def test_every_source_is_a_file_of_the_sample(name: str, by_code: Answer) -> None:
    _, inputs = sample_of(TEAMS / name)
    files = {one.name for path in inputs for one in (path, *path.rglob("*"))}
    own = {one.name for one in (TEAMS / name).rglob("*")}
    for source in by_code.sources:
        named = re.split(r"[#!:]", source.ref.rpartition("/")[2])[0]
        assert named in files | own or not re.search(r"\.\w{2,5}$", named), source.ref
    assert by_code.sources


def test_the_report_is_a_page_that_loads_nothing(name: str, by_code: Answer) -> None:
    page = cast("str", written(load(name), by_code)["report.html"])
    assert page.startswith("<!doctype html>")
    assert not re.search(r"<script|<link |<iframe|src=\"http|url\(http", page, re.IGNORECASE)


async def test_a_run_without_files_has_a_report_that_says_why_there_is_no_result(name: str) -> None:
    supervisor = Supervisor(load(name))
    run = await supervisor.start("hello")
    try:
        answer = await run.answer()
    except InputError:
        answer = (await run.view()).answer
    assert answer is not None
    files = report_files(answer, supervisor.team, answer.answer)
    text = cast("str", files["report.md"])
    if answer.output is None:
        assert answer.status == "failed"
        assert text.startswith(f"There is no result: {answer.gaps[0].why[:20]}")
    assert "<!doctype html>" in cast("str", files["report.html"])[:20].lower()


def test_what_a_model_makes_up_is_left_out_and_the_rest_stays(name: str, by_code: Answer) -> None:
    statement = {"text": MADE_UP, "ref": "nowhere.md:1", "quote": MADE_UP}
    answer = {"statements": [statement], "sql": "SELECT 4711", "answer": MADE_UP}
    model = ScriptedModel(script=[{"reply": {"json": {"answer": answer}}}]).model
    found = run(replace(load(name), model=model), name)
    assert MADE_UP not in found.answer
    assert MADE_UP not in cast("str", written(load(name), found)["report.html"])
    output = cast("Mapping[str, object]", found.output)
    code = cast("Mapping[str, object]", by_code.output)
    same = [field for field in PROMISED[name] if output[field] == code[field]]
    assert len(same) >= len(PROMISED[name]) - 1
