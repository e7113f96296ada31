"""Where the lenses of a change work: in one process, or in processes of their own."""

import functools
import json
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leadhand.synthesis.findings import Review
from leadhand_teams.review.lenses import bugs
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


def test_a_lens_in_a_thread_leaves_the_program_its_memory(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"a.py": CARELESS})
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with ThreadPoolExecutor(1) as threads:
        look = functools.partial(bugs.review, limited=True)
        assert threads.submit(run_lens, look, change).result().findings
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


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
