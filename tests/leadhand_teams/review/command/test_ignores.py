"""`leadhand: ignore[rule]: reason` in the code, and baselines that the review writes itself."""

import json
from pathlib import Path

import pytest

from leadhand.synthesis.findings import Review
from tests.cli.program import leadhand
from tests.repositories import Repo

RULE = "bugs/undefined-name"
ASKED = f"# leadhand: ignore[{RULE}]: a plug-in defines it"
BEGIN = "def run() -> None:\n    print(1)\n"
SETTINGS = 'lenses = ["bugs"]\n'


def repository(folder: Path, before: str, after: str, name: str = "app.py") -> Repo:
    """A repository whose last commit changes a file from `before` to `after`."""
    made = Repo(folder)
    made.commit("Begin", {".leadhand.toml": SETTINGS, name: before})
    made.commit("Go on", {name: after})
    return made


def reviewed(repo: Repo, *options: str) -> Review:
    """The review of the last commit as JSON gives it."""
    ended = leadhand("review", *options, "--json", "--quiet", folder=repo.folder)
    return Review.model_validate(json.loads(ended.out)["output"])


def ignore_notes(review: Review) -> list[tuple[int | None, str, bool]]:
    """Line, text and `attempt` of the notes on comments."""
    return [(one.line, one.text, one.attempt) for one in review.notes if one.kind == "ignore"]


def test_a_comment_of_the_base_is_obeyed_and_what_it_hides_is_counted(tmp_path: Path) -> None:
    before = f"def run() -> None:\n    {ASKED}\n    print(1)\n    print(2)  {ASKED}\n"
    after = before.replace("1", "one").replace("2", "two")
    repo = repository(tmp_path, before, after)
    review = reviewed(repo)
    assert (review.findings, ignore_notes(review)) == ((), [])
    assert len(review.hidden_by_ignores) == 2
    for format, said in {
        "text": "2 findings left out: `leadhand: ignore` comments",
        "markdown": "Ignored: 2 findings left out",
        "sarif": "2 findings left out: `leadhand: ignore` comments hide them",
        "github": "Ignored: 2 findings left out",
    }.items():
        ended = leadhand("review", "--format", format, "-q", folder=tmp_path)
        assert said in " ".join(ended.out.split())
        assert ended.status == 0


def test_a_comment_that_the_change_adds_is_listed_and_obeyed_only_if_trusted(
    tmp_path: Path,
) -> None:
    after = f"def run() -> None:\n    {ASKED}\n    print(one)\n"
    repo = repository(tmp_path, BEGIN, after)
    review = reviewed(repo)
    assert [one.rule for one in review.findings] == [RULE]
    [(line, text, attempt)] = ignore_notes(review)
    assert (line, attempt) == (2, True)
    assert "is not obeyed without --trust-ignores: it would hide 1 finding" in text
    for format in ("text", "markdown", "sarif", "github"):
        out = leadhand("review", "--format", format, "-q", folder=tmp_path).out
        assert "is not obeyed without" in " ".join(out.split())
    trusting = reviewed(repo, "--trust-ignores")
    assert (trusting.findings, trusting.hidden_by_ignores) == ((), (review.findings[0].id,))
    [(_, text, attempt)] = ignore_notes(trusting)
    assert "is obeyed (--trust-ignores): it hides 1 finding" in text
    assert not attempt


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("# leadhand: ignore", "it names no rule"),
        ("# leadhand: ignore: it is fine", "it names no rule"),
        ("# leadhand: ignore[]: it is fine", "it names no rule"),
        (f"# leadhand: ignore[{RULE}]", "it gives no reason"),
        (f"# leadhand: ignore[{RULE}]:  ", "it gives no reason"),
        ("# leadhand: ignore[bugs/no-such]: it is fine", "there is no rule bugs/no-such"),
    ],
)
def test_a_comment_without_rule_or_reason_is_reported_and_not_obeyed(
    tmp_path: Path, comment: str, why: str
) -> None:
    before = f"def run() -> None:\n    {comment}\n    print(1)\n"
    review = reviewed(repository(tmp_path, before, before.replace("1", "one")), "--trust-ignores")
    assert [one.rule for one in review.findings] == [RULE]
    assert ignore_notes(review) == [(2, f"`leadhand: ignore` is not obeyed: {why}", False)]


def test_a_line_inserted_below_an_old_comment_is_not_covered_by_it(tmp_path: Path) -> None:
    before = f"def run() -> None:\n    {ASKED}\n    print(1)\n"
    after = before.replace("    print(1)", "    print(one)\n    print(1)")
    review = reviewed(repository(tmp_path, before, after))
    assert [one.rule for one in review.findings] == [RULE]
    assert len(ignore_notes(review)) == 1


def test_a_copy_of_an_old_comment_counts_as_added(tmp_path: Path) -> None:
    before = f"def run() -> None:\n    print(1)  {ASKED}\n"
    after = f"def run() -> None:\n    print(one)  {ASKED}\n    print(two)  {ASKED}\n"
    review = reviewed(repository(tmp_path, before, after))
    assert [one.line for one in review.findings] == [3]
    assert len(review.hidden_by_ignores) == 1


def test_a_string_is_no_comment(tmp_path: Path) -> None:
    after = f'TEXT = "x  {ASKED}"\nHELP = """\nAdd\n    {ASKED}\n"""\nprint(one)\n'
    review = reviewed(repository(tmp_path, "TEXT = 1\n", after), "--trust-ignores")
    assert ignore_notes(review) == []
    assert [one.rule for one in review.findings] == [RULE]


def test_what_a_patch_says_of_its_base_proves_nothing(tmp_path: Path) -> None:
    before = f"import os\n{ASKED}\nprint(1)\n"
    repo = repository(tmp_path, before, before.replace("1", "one"))
    repo.write("one.diff", repo.git("diff", "-U9", "HEAD~1..HEAD", "--", "app.py") + "\n")
    review = reviewed(repo, "--diff", "one.diff")
    assert review.hidden_by_ignores == ()
    assert [attempt for _, _, attempt in ignore_notes(review)] == [True]


def test_a_baseline_that_the_review_writes_hides_what_it_found(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BEGIN, BEGIN.replace("1", "one"))
    file = tmp_path / "known.json"
    file.write_text("from before", encoding="utf-8")
    ended = leadhand("review", "-q", "--write-baseline", str(file), folder=repo.folder)
    assert "bugs/undefined-name" in ended.out
    review = reviewed(repo, "--baseline", str(file))
    assert (review.findings, len(review.hidden_by_baseline)) == ((), 1)
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["known.json"]


def test_a_review_that_is_not_complete_writes_no_baseline(tmp_path: Path) -> None:
    repo = repository(tmp_path, BEGIN, BEGIN.replace("1", "one"))
    ended = leadhand(
        "review", "--deadline", "1ms", "--write-baseline", "known.json", folder=tmp_path
    )
    assert ended.status == 4
    assert not (repo.folder / "known.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--write-baseline", "."), "it is not a file"),
        (("--write-baseline", "none/known.json"), "is not a folder that you can write to"),
        (("--write-baseline", "a", "--baseline", "b"), "exclude each other"),
        (("--also", "text=a"), "--also text=a: give FORMAT=FILE, with json, markdown, sarif"),
        (("--also", "sarif"), "give FORMAT=FILE"),
        (("--also", "json=a", "--also", "json=b"), "json is given twice"),
        (("--also", "json=a", "--also", "sarif=./a"), "can't write"),
        (("--diff", "a.diff", "--write-baseline", "a.diff"), "the review reads it"),
        (("--also", "sarif=none/a"), "is not a folder that you can write to"),
    ],
)
def test_a_file_that_cant_be_written_is_refused_before_the_review(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    repo = repository(tmp_path, BEGIN, BEGIN.replace("1", "one"))
    ended = leadhand("review", "-q", *options, folder=repo.folder)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err
