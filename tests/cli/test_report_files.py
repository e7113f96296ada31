"""`leadhand run --out DIR` and `leadhand show RUN --out DIR`: the report of an answer as files."""

import stat
from pathlib import Path

import pytest

from tests.cli.program import leadhand
from tests.team_folders import write_team

CODE = """\
from leadhand import Answer, Handoff


def shout(handoff: Handoff) -> str:
    return handoff.intent.upper()


def files(answer: Answer) -> dict[str, str | bytes]:
    if answer.request == "fails":
        raise ValueError("no figure")
    if answer.request == "climbs":
        return {"report.html": "new", "../report.html": "new"}
    text = f"<p>{answer.answer}</p>"
    return {"report.html": text, "figures/line.svg": b"<svg/>", "orders.csv": "asset;shares"}
"""
SOLO = "---\ndescription: Shouts\nrun: shouting:shout\n---\n"
HOME = ("--home", "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_team(tmp_path / "desk", 'name: desk\nreport: "shouting:files"\n', solo=SOLO)
    write_team(tmp_path / "plain", "name: plain\n", solo=SOLO)
    for name in ("desk", "plain"):
        (tmp_path / name / "shouting.py").write_text(CODE, encoding="utf-8")
    return tmp_path


def test_the_files_of_the_teams_report_are_written_for_the_user_alone(folder: Path) -> None:
    words = ("run", "hello", "--team", "desk", "--out", "new/out", *HOME)
    done = leadhand(*words, folder=folder)
    assert (done.status, done.err.splitlines()[-1]) == (0, "leadhand: report: new/out/report.html")
    out = folder / "new" / "out"
    files = sorted(file for file in out.rglob("*") if file.is_file())
    names = [file.relative_to(out).as_posix() for file in files]
    assert names == ["figures/line.svg", "orders.csv", "report.html"]
    assert (out / "report.html").read_text(encoding="utf-8") == "<p>HELLO</p>"
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_files_of_the_same_names_are_replaced_and_others_stay(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    for request in ("one", "two"):
        leadhand("run", request, "--team", "desk", "--out", "out", *HOME, folder=folder)
    assert (folder / "out" / "report.html").read_text(encoding="utf-8") == "<p>TWO</p>"
    assert (folder / "out" / "mine.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("request_", "why"),
    [("fails", "ValueError: no figure (at "), ("climbs", "has '../report.html' as str")],
)
def test_a_report_that_fails_leaves_the_files_as_they_were(
    folder: Path, request_: str, why: str
) -> None:
    leadhand("run", "one", "--team", "desk", "--out", "out", *HOME, folder=folder)
    done = leadhand("run", request_, "--team", "desk", "--out", "out", *HOME, folder=folder)
    assert done.status == 3
    assert why in done.err.splitlines()[-1]
    assert request_.upper() in done.out
    assert (folder / "out" / "report.html").read_text(encoding="utf-8") == "<p>ONE</p>"
    assert not (folder / "report.html").exists()


def test_a_team_without_a_report_gets_its_answer_as_a_page_without_its_markup(folder: Path) -> None:
    request = "<script>alert(1)</script> ![x](http://a.b/c.png) **loud**"
    done = leadhand("run", request, "--team", "plain", "--out", "out", *HOME, folder=folder)
    assert done.status == 0, done.err
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page
    assert "<strong>LOUD</strong>" in page
    assert "<script" not in page.casefold()
    assert "<img" not in page
    assert "**LOUD**" in (folder / "out" / "report.md").read_text(encoding="utf-8")


def test_the_report_of_a_stored_run_is_written_again(folder: Path) -> None:
    leadhand("run", "hello", "--team", "desk", *HOME, folder=folder)
    done = leadhand("show", "last", "--out", "later", *HOME, folder=folder)
    assert (done.status, done.out, done.err) == (0, "", "leadhand: report: later/report.html\n")
    assert (folder / "later" / "report.html").read_text(encoding="utf-8") == "<p>HELLO</p>"


def test_a_place_that_is_no_folder_is_refused_before_any_work(folder: Path) -> None:
    done = leadhand("run", "x", "--team", "desk", "--out", "desk/team.yaml", *HOME, folder=folder)
    assert (done.status, done.out) == (2, "")
    assert "can't write a report into desk/team.yaml" in done.err
    assert leadhand("runs", *HOME, folder=folder).out.startswith("no runs are stored")


def test_a_report_that_takes_no_answer_is_a_problem_of_the_team(folder: Path) -> None:
    write_team(folder / "desk", 'report: "shouting:CODE"\n', solo=SOLO)
    done = leadhand("teams", "check", "desk", folder=folder)
    assert done.status == 2
    assert "team.yaml:1: module 'shouting' has no 'CODE'" in done.out
