"""Reading a team's file gives plain data, or a problem with its line."""

import os
from pathlib import Path

import pytest

from leadhand.teams.loader import load
from tests.team_folders import problems, worker, write_team


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: !!python/object/apply:os.system [id]", ":1: the tag '!!python/object/apply:os.sys"),
        ("name: !own x", ":1: the tag '!own' is not read: leave it out"),
        ("a: &a [x]\nb: [" + "*a, " * 11 + "]", ":2: has more than 10 aliases (`*name`): write"),
        ("a: &a [*a]", ":1: contains itself: write the values out"),
        ("name: " + "[" * 100_000, ":1: is nested more than 20 deep: keep it flat"),
        ("{a: " * 30, ":1: is nested more than 20 deep: keep it flat"),
        ("name: x\n" + "#" * 300_000, ": is larger than 256 KiB: shorten it"),
    ],
    ids=["object", "tag", "aliases", "recursion", "depth", "mappings", "size"],
)
def test_f23_object_tags_and_bombs_are_refused(tmp_path: Path, text: str, said: str) -> None:
    """F23: YAML makes no objects, and costs no more than its own length."""
    for name, found in {
        "team.yaml": problems(write_team(tmp_path / "team", text)),
        "workers/solo.md": problems(
            write_team(tmp_path / "worker", solo=f"---\n{text}\n---\n".replace("#" * 9, "y" * 9))
        ),
    }.items():
        expected = said.replace(":1:", ":2:") if name != "team.yaml" and ":1:" in said else said
        expected = expected.replace(":2: has", ":3: has") if name != "team.yaml" else expected
        assert found[0].startswith(f"{name}{expected}")


def test_a_few_aliases_are_fine(tmp_path: Path) -> None:
    team = "limits: {timeout_s: &t 5}\nladder: {backoff_s: [*t, *t]}\n"
    assert load(write_team(tmp_path, team)).retry.backoff_s == (5.0, 5.0)


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("description: Use this when: asked", ":2: is not YAML (mapping values are not allowed he"),
        ("a: 1\nb:\n\tc: 1", ":4: is not YAML (found character '\\t' that cannot start any token): "
         "indent with spaces, not with tabs"),
        ("name: solo\ndescription: 'it\noffline: x:y", ":3: is not YAML (found unexpected end of"),
        ("name: solo\ntools: [a, b\noffline: x:y", ":3: is not YAML (expected ',' or ']', but got"),
        ("a: [", ":3: is not YAML (expected the node content, but found '<stream end>')"),
        ("a: *b", ":2: is not YAML (found undefined alias"),
        ("a: b\n... \n--- x\n", ":4: is not YAML ("),
        ("a: b\x07", ":2: contains the character 7, which YAML forbids: remove it"),
    ],
)  # fmt: skip
def test_what_is_no_yaml_is_explained(tmp_path: Path, front: str, said: str) -> None:
    (found,) = problems(write_team(tmp_path, solo=f"---\n{front}\n---\n"))
    assert found.startswith(f"workers/solo.md{said}")


def test_front_matter_that_never_ends_is_a_problem(tmp_path: Path) -> None:
    (found,) = problems(write_team(tmp_path, solo="---\ndescription: x\n"))
    assert found == "workers/solo.md:1: the front matter never ends: close it with a line `---`"


def test_what_is_no_text_or_no_file_is_a_problem(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=worker())
    (folder / "workers" / "binary.md").write_bytes(b"---\ndescription: x\nname: \xff\n---\n")
    (folder / "workers" / "folder.md").mkdir()
    (folder / "workers" / "gone.md").symlink_to("nowhere")
    os.mkfifo(folder / "workers" / "pipe.md")
    assert problems(folder) == [
        "workers/binary.md:3: is not UTF-8 text here: save the file as UTF-8",
        "workers/folder.md: is not a file",
        "workers/gone.md: can't be read: No such file or directory",
        "workers/pipe.md: is not a file",
    ]


def test_others_may_refer_to_a_worker_whose_file_has_mistakes(tmp_path: Path) -> None:
    team = "planner: {template: [{id: a, worker: broken, intent: Do it.}]}\n"
    folder = write_team(tmp_path, team, broken="---\na: [x\n---\n", one=worker("fallback: broken"))
    (found,) = problems(folder)
    assert found.startswith("workers/broken.md:2: is not YAML")
