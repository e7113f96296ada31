"""Where the lenses of a change work: in one process, or in processes of their own."""

import json
import resource
from pathlib import Path

import pytest

from leadhand.synthesis.findings import Review
from leadhand_teams.review.lens import limited_data
from leadhand_teams.review.team import SMALL_BYTES, SMALL_FILES, review_team
from tests.cli.program import leadhand
from tests.leadhand_teams.review.changes import make_change
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
