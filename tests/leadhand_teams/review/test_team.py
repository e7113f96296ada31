"""Where the lenses of a change work: in one process, or in processes of their own."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from leadhand.synthesis.findings import Review
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen, lens, limited_data
from leadhand_teams.review.rules import rule
from leadhand_teams.review.team import SMALL_BYTES, SMALL_FILES, review_team
from tests.cli.program import leadhand
from tests.leadhand_teams.review.changes import make_change, run_lens
from tests.repositories import Repo

CARELESS = "def run() -> None:\n    print(undefined)\n"


@pytest.mark.parametrize(
    ("files", "lines", "isolated"),
    [(SMALL_FILES, 2, "none"), (SMALL_FILES + 1, 2, "process"), (1, SMALL_BYTES, "process")],
    ids=["few", "many", "large"],
)
def test_the_lenses_of_a_small_change_need_no_processes(
    tmp_path: Path, files: int, lines: int, isolated: str
) -> None:
    change = make_change(tmp_path, {f"m{n}.py": "x\n" * lines for n in range(files)})
    assert {worker.isolate for worker in review_team(change).workers} == {isolated}


def test_the_memory_of_a_review_is_limited_until_it_ends(tmp_path: Path) -> None:
    """Its processes inherit the limit, and lenses in its threads have it."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with limited_data():
        limited, _ = resource.getrlimit(resource.RLIMIT_DATA)
        assert 1 << 30 < limited < 3 << 30
        with pytest.raises(MemoryError):
            bytearray(2 << 30)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_a_file_that_needs_more_memory_is_named_and_the_others_are_reviewed(
    tmp_path: Path,
) -> None:
    @lens
    def hungry(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
        for file in files:
            if file.path == "b.py":
                raise MemoryError
            yield rule("bugs/undefined-name").finding(file, 1, message="Here.")

    change = make_change(tmp_path, {f"{name}.py": CARELESS for name in "abc"})
    report = run_lens(hungry, change)
    assert [one.path for one in report.findings] == ["a.py", "c.py"]
    [note] = report.not_assessed
    assert (note.path, "more memory" in note.why) == ("b.py", True)


def test_what_is_nested_too_deeply_is_told_from_what_needs_too_much_memory() -> None:
    """Python raises a `MemoryError` for both; a process of its own has no memory to use again."""
    code = """
from leadhand_teams.review.change import parse_python
from leadhand_teams.review.lens import limited_data

deep = f"{'-' * 900_000}1\\n"
print(parse_python(deep))
with limited_data():
    try:
        parse_python(deep)
    except MemoryError:
        print("too much memory")
"""
    env = {**os.environ, "LEADHAND_REVIEW_MB": "40"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["None", "too much memory"], done.stderr


def test_the_findings_are_the_same_in_one_process_and_in_many(tmp_path: Path) -> None:
    reviews: list[Review] = []
    for more in (0, SMALL_FILES):
        repo = Repo(tmp_path / str(more))
        repo.commit("Begin", {"README": "Prints.\n"})
        repo.write("app.py", CARELESS)
        for number in range(more):
            repo.write(f"data/{number}.txt", f"{number}\n")
        repo.commit("Print more")
        out = leadhand("review", "--threshold", "0", "--json", "-q", folder=repo.folder).out
        reviews.append(Review.model_validate(json.loads(out)["output"]))
    few, many = reviews
    assert [one.rule for one in few.findings] == ["bugs/undefined-name"]
    assert few.findings == many.findings
