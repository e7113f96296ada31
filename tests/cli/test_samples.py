"""`leadhand teams list`, `teams try` and `teams copy`: to a sample, and a team of one's own."""

import json
from pathlib import Path

import pytest

from leadhand.cli.teams.actions import list_teams
from tests.cli.program import leadhand
from tests.cli.test_teams import Screen
from tests.run.code_team import write_folder

HOME = ("--home", "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the team `words`, which has two samples."""
    samples = write_folder(tmp_path / "words") / "samples"
    (samples / "long").mkdir(parents=True)
    (samples / "request.txt").write_text("count these\nA comment for readers.\n", "utf-8")
    (samples / "notes.txt").write_text("copper", "utf-8")
    (samples / "more").mkdir()
    (samples / "long" / "request.txt").write_text("one three", "utf-8")
    return tmp_path


def test_a_sample_is_run_and_its_report_and_the_next_command_are_named(folder: Path) -> None:
    done = leadhand("teams", "try", "words", "--no-model", *HOME, folder=folder)
    paths = [str(folder / "words" / "samples" / name) for name in ("more", "notes.txt")]
    assert (done.status, done.out.splitlines()[0]) == (
        0,
        f"{sum(map(len, paths))} letters in all",
    )
    report, own = done.err.splitlines()[-2:]
    assert report == "leadhand: report: words-report/report.html"
    command = "leadhand run 'count these' --team words --input PATH --out DIR"
    assert own == f"leadhand: on your own files: {command}"
    assert "letters in all" in (folder / "words-report" / "report.html").read_text("utf-8")


def test_another_sample_is_named_by_its_folder_and_printed_as_json(folder: Path) -> None:
    words = ("teams", "try", "words", "--sample", "long", "--json", "--out", "there", *HOME)
    done = leadhand(*words, folder=folder)
    assert json.loads(done.out)["output"] == [3, 5]
    assert "with your own request: leadhand run 'one three' --team words" in done.err
    assert (folder / "there" / "report.md").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("words", "--sample", "short"), "team words has no sample 'short': it has long"),
        (("words", "--sample", ".."), "team words has no sample '..': it has long"),
        (("bare",), "team bare has no sample: put a request into samples/request.txt"),
        (("gone",), "there is no team 'gone'"),
    ],
)
def test_a_sample_that_is_not_there_is_one_line(
    folder: Path, words: tuple[str, ...], why: str
) -> None:
    write_folder(folder / "bare")
    done = leadhand("teams", "try", *words, *HOME, folder=folder)
    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith(f"leadhand: {why}")


def test_a_copy_is_a_team_of_ones_own(folder: Path) -> None:
    done = leadhand("teams", "copy", "words", "mine", folder=folder)
    assert done.out == (
        "created a team in mine\n"
        "  leadhand teams check mine  # check it\n"
        "  leadhand run 'count these' --team mine --input PATH  # try it, with a model or without\n"
    )
    checked = leadhand("teams", "check", "mine", folder=folder)
    assert checked.out == "team 'mine' can be used: 1 worker\n"
    ran = leadhand("run", "one three", "--team", "mine", "--json", *HOME, folder=folder)
    assert (json.loads(ran.out)["team"], json.loads(ran.out)["output"]) == ("mine", [3, 5])


def test_a_router_is_trained_for_a_copy(folder: Path) -> None:
    pytest.importorskip("sklearn")
    leadhand("teams", "copy", "words", "mine", folder=folder)
    examples = [{"text": f"count the words {n}", "worker": "counter"} for n in range(20)]
    examples += [{"text": f"tell a joke about {n}", "worker": None} for n in range(20)]
    lines = "\n".join(json.dumps(one) for one in examples)
    (folder / "examples.jsonl").write_text(lines, encoding="utf-8")
    trained = leadhand("router", "train", "mine", "--examples", "examples.jsonl", folder=folder)
    assert trained.status == 0, trained.err
    checked = leadhand("teams", "check", "mine", folder=folder)
    assert checked.out == "team 'mine' can be used: 1 worker\n"


def test_a_copy_of_a_ready_made_team_uses_the_installed_functions(folder: Path) -> None:
    assert leadhand("teams", "copy", "research", "mine", folder=folder).status == 0
    assert [*(folder / "mine").rglob("*.py")] == []
    checked = leadhand("teams", "check", "mine", folder=folder)
    assert checked.out.startswith("team 'mine' can be used")
    (folder / "a.csv").write_text("region,revenue\nnorth,10\nsouth,12\n", encoding="utf-8")
    words = ("run", "Which region has most?", "--team", "mine", "--input", "a.csv", "--no-model")
    ran = leadhand(*words, *HOME, folder=folder)
    assert "south" in ran.out
    assert leadhand("teams", "copy", "research", "mine", folder=folder).status == 2


def test_a_team_that_its_own_command_runs_is_not_copied(folder: Path) -> None:
    done = leadhand("teams", "copy", "review", "mine", folder=folder)
    assert (done.status, (folder / "mine").exists()) == (2, False)
    assert "use `leadhand review`" in done.err


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_says_what_each_team_needs_and_gives(width: int) -> None:
    screen = Screen(width=width)
    list_teams(screen.console)
    lines = screen.text.splitlines()
    assert all(len(line.rstrip()) <= min(width, 100) for line in lines)
    assert lines[-1] == "leadhand teams try NAME runs a sample, with a model or without"
