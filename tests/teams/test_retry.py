"""`retry` and `offline_s` in the front matter of a worker."""

from json import JSONDecodeError
from pathlib import Path

import pytest

from leadhand import Retry
from leadhand.teams.loader import load
from tests.team_folders import problems, worker, write_team


@pytest.mark.parametrize(
    ("front", "retry"),
    [
        ("", True),
        ("retry: true", True),
        ("retry: false", Retry(attempts=1)),
        ("retry:\n  attempts: 2", Retry(attempts=2)),
        (
            "retry:\n  on: [ConnectionError, json:JSONDecodeError]",
            Retry(on=(ConnectionError, JSONDecodeError)),
        ),
    ],
)
def test_a_worker_says_which_of_its_failures_are_retried(
    tmp_path: Path, front: str, retry: bool | Retry
) -> None:
    team = load(write_team(tmp_path, solo=worker(front)))
    assert team.workers[0].retry == retry


def test_a_worker_says_how_long_its_code_takes(tmp_path: Path) -> None:
    team = load(write_team(tmp_path, solo=worker("offline_s: 2.5")))
    assert team.workers[0].offline_s == 2.5


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("retry:\n  on: [Conection]", "must name a built-in exception"),
        ("retry:\n  on: [json:loads]", "'json:loads' is no exception class"),
        ("retry:\n  on: [json:Gone]", "has no 'Gone'"),
        ("retry:\n  attempts: 0", "attempts"),
        ("offline_s: 0", "offline_s"),
    ],
)
def test_what_can_not_be_retried_is_a_problem_with_its_place(
    tmp_path: Path, front: str, said: str
) -> None:
    (found,) = problems(write_team(tmp_path, solo=worker(front)))
    assert found.startswith("workers/solo.md:")
    assert said in found
