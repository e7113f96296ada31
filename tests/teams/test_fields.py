"""Fields of a team's files: accepted values, and messages about others."""

from pathlib import Path

import pytest

from leadhand.teams.loader import inspect
from tests.team_folders import problems, worker, write_team


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("description:", "workers/solo.md:2: needs `description`: one line on what this"),
        ("description: 'a\\nb'\nname: ' x'", "workers/solo.md:3: `name` is ' x' and must be one"),
        ("name: \"a\\u202eb\"", "workers/solo.md:2: `name` is 'a\\u202eb' and must be one line of"),
        ("concurrency: 0", "workers/solo.md:2: `concurrency` is 0 and must be greater than 0"),
        ("concurrency: 1.5", "workers/solo.md:2: `concurrency` is 1.5 and must be a whole number"),
        ("concurrency: true", "workers/solo.md:2: `concurrency` is true and must be a whole"),
        ("timeout_s: .inf", "workers/solo.md:2: `timeout_s` is inf and must be a number"),
        ("max_steps: 0x" + "f" * 40, "workers/solo.md:2: `max_steps` is '0xff"),
        ("tools: {a: b}", "workers/solo.md:2: `tools` is a mapping and must be a list"),
        ("tools:\n- a\n-", "workers/solo.md:4: item 2 of `tools` is nothing and must be text"),
        ("offline: work", "workers/solo.md:2: `offline` is 'work' and must name a function as"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_explained_in_words(tmp_path: Path, front: str, said: str) -> None:
    (found,) = problems(write_team(tmp_path, solo=worker(front)))
    assert found.startswith(said)


@pytest.mark.parametrize(
    ("team", "said"),
    [
        (
            "planner: 3",
            "team.yaml:1: `planner` is 3 and must be a word, such as `stepwise`, or have "
            "`key: value` lines",
        ),
        ("planner:\n  template: x", "team.yaml:2: `template` is 'x' and must be a list"),
        ("planner:\n  template:\n    - x", "team.yaml:3: item 1 of `template` is 'x' and must"),
        ("limits:\n  max_tokens: many", "team.yaml:2: `max_tokens` is 'many' and must be a whole"),
        (
            "synthesizer: [a]",
            "team.yaml:1: `synthesizer` is a list and must be a word, such as `merge`, or have "
            "`key: value` lines",
        ),
        ("- a\n- b", "team.yaml:1: is not a mapping: write `key: value` lines"),
        ("name: a\n\nname: b", "team.yaml:3: `name` is on line 1 too: keep one of them"),
        ("rates: 5", "team.yaml:1: `rates` is 5 and must have `key: value` lines"),
        ("rates:\n  a:b: 5", "team.yaml:2: `a:b` is 5 and must have `key: value` lines"),
        ("rates:\n  a:b:\n    rpm: 0", "team.yaml:3: `rpm` is 0 and must be greater than 0"),
        ("rates:\n  a:b:\n    rps: 3", "team.yaml:3: `rps` is unknown here: it must be `rpm`"),
        ("rates:\n  'a b': {rpm: 1}", "team.yaml:2: `a b` is 'a b' and must be `provider:model`"),
        (
            "name: a\nmax_depth: -1",
            "team.yaml:2: `max_depth` is -1 and must be greater than or equal to 0",
        ),
        ("name: a\nmax_depth: two", "team.yaml:2: `max_depth` is 'two' and must be a whole"),
        ("? [a]\n: b", "team.yaml:1: a key must be one word: write `key: value`"),
    ],
)
def test_a_wrong_team_file_is_explained_in_words(tmp_path: Path, team: str, said: str) -> None:
    (found,) = problems(write_team(tmp_path, team))
    assert found.startswith(said)


def test_entries_that_need_more_are_told_what(tmp_path: Path) -> None:
    team = "planner:\n  template:\n    - id: a\n    - worker: solo\n      intent: Do it.\n"
    assert problems(write_team(tmp_path, team)) == [
        "team.yaml:3: needs `worker`: who does it",
        "team.yaml:3: needs `intent`: what to do, in words that the worker can act on",
        "team.yaml:4: needs `id`: a name for the task, once in the template",
    ]


@pytest.mark.parametrize(
    ("team", "meant"),
    [
        ("planer: {}", "planner"),
        ("synthesiser: merge", "synthesizer"),
        ("planner: {tmplate: []}", "template"),
        ("ladder: {max_atempts: 2}", "max_attempts"),
        ("routes: [{worker: solo, word: [a]}]", "words"),
        ("judge: {setings: {}}", "settings"),
    ],
)
def test_a_misspelt_key_of_the_team_file_is_a_problem(
    tmp_path: Path, team: str, meant: str
) -> None:
    (found,) = problems(write_team(tmp_path, team))
    assert found.startswith("team.yaml:1: there is no key ")
    assert found.endswith(f"did you mean `{meant}`?")


def test_unknown_keys_are_named_with_what_may_have_been_meant(tmp_path: Path) -> None:
    team = "name: x\nmodles: m\nhooks: []\nlader: {}\nlimits: {timeout: 3}\n"
    folder = write_team(tmp_path, team, solo=worker("color: blue\nskills: lead\nvoice: 3"))
    assert problems(folder) == [
        "team.yaml:2: there is no key `modles`: did you mean `models`?",
        "team.yaml:4: there is no key `lader`: did you mean `ladder`?",
        "team.yaml:5: there is no key `timeout`: did you mean `timeout_s`?",
    ]
    assert list(inspect(folder).warnings) == [
        "team.yaml:3: `hooks` has no effect in this version",
        "workers/solo.md:2: `color` has no effect in this version",
        "workers/solo.md:3: `skills` has no effect in this version",
        "workers/solo.md:4: `voice` has no effect in this version",
    ]
