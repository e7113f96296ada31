"""Facts: what needs no judgement is critical, certain, and fails the command."""

import base64
import json
from pathlib import Path

import pytest

from leadhand.synthesis.findings import Review
from tests.cli.program import leadhand
from tests.repositories import Repo

TOKEN = "ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"
"""Expired; its issuer published it to explain the checksum."""
DER = base64.encodebytes(b"0\x82\x01\x00" + bytes(range(256)))
KEY = b"-----BEGIN PRIVATE KEY-----\n" + DER + b"-----END PRIVATE KEY-----\n"
FACTS = {
    "open.py": (b"x = (1\n", "bugs/syntax-error"),
    "null.py": (b"x = 1\ny = '\0'\n", "bugs/syntax-error"),
    "latin.py": ("\n\nname = 'Müller'\n".encode("latin-1"), "bugs/syntax-error"),
    "unknown.py": ("# coding: klingon\nname = 'Müller'\n".encode(), "bugs/syntax-error"),
    "escape.py": (b"# coding: unicode_escape\n# x \\nimport os\n", "bugs/declared-encoding"),
    "undefined.py": (b"# coding: undefined\nx = 1\n", "bugs/declared-encoding"),
    "deep.py": (b"x = " + b"(" * 300 + b"1" + b")" * 300 + b"\n", "bugs/syntax-error"),
    "values.yaml": (b"<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n", "bugs/conflict-marker"),
    "deploy.sh": (f"export TOKEN={TOKEN}\n".encode(), "security/secret-token"),
    "server.key": (KEY, "security/private-key"),
}
HARMLESS = {
    "latin1.py": "# -*- coding: latin-1 -*-\nname = 'Müller'\n".encode("latin-1"),
    "bom.py": b"\xef\xbb\xbfx = 1\n",
    "replacement.py": "mark = '\ufffd'\n".encode(),
    "use.md": b"Set `ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` as AKIAIOSFODNN7EXAMPLE.\n",
    "tests/data/broken.py": b"def f(:\n",
}


def reviewed(folder: Path) -> tuple[int, Review]:
    ended = leadhand("review", "-q", "--json", folder=folder)
    return ended.status, Review.model_validate(json.loads(ended.out)["output"])


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path)
    made.commit("Start", dict.fromkeys(FACTS, "x = 1\n"))
    return made


def test_what_python_refuses_conflicts_tokens_and_keys_are_facts(repo: Repo) -> None:
    for name, (content, _) in FACTS.items():
        (repo.folder / name).write_bytes(content)
    repo.commit("Break everything")
    status, review = reviewed(repo.folder)
    assert status == 1
    found = {one.path: one for one in review.findings if one.basis == "fact"}
    assert {path: one.rule for path, one in found.items()} == {
        path: rule for path, (_, rule) in FACTS.items()
    }
    assert {(one.severity, one.confidence) for one in found.values()} == {("critical", 100)}
    assert "null byte" in found["null.py"].message
    assert "not UTF-8" in found["latin.py"].message
    assert "klingon" in found["unknown.py"].message
    assert "`unicode_escape`" in found["escape.py"].message
    assert "undefined.py" in {note.path for note in review.not_assessed}
    assert TOKEN[8:] not in review.model_dump_json()


def test_what_is_declared_published_or_broken_on_purpose_is_no_fact(repo: Repo) -> None:
    for name, content in HARMLESS.items():
        (repo.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (repo.folder / name).write_bytes(content)
    repo.commit("Add odd files")
    status, review = reviewed(repo.folder)
    assert (status, review.findings) == (0, ())
    assert "tests/data/broken.py" in {note.path for note in review.not_assessed}


def test_a_byte_that_was_broken_before_is_not_blamed_on_the_change(repo: Repo) -> None:
    (repo.folder / "old.py").write_bytes("a = 'ü'\n".encode("latin-1"))
    repo.commit("Add an old file")
    (repo.folder / "old.py").write_bytes("a = 'ü'\nb = 1\n".encode("latin-1"))
    repo.commit("Add to it")
    _, review = reviewed(repo.folder)
    assert [one for one in review.findings if one.basis == "fact"] == []


def test_code_that_an_encoding_hides_is_read_as_python_reads_it(repo: Repo) -> None:
    """The declaration was there before: what hides code now is the line below it."""
    declared = "# coding: unicode_escape\n"
    repo.commit("Declare it", {"a.py": f"{declared}x = 1\n", "b.py": f"{declared}y = 1\n"})
    hidden = f"{declared}x = 1\n# x \\ndef run(: pass\n"
    repo.commit("Comment on it", {"a.py": hidden, "b.py": f"{declared}y = 2\n"})
    status, review = reviewed(repo.folder)
    assert status == 1
    found = {(one.path, one.rule): one.evidence for one in review.findings}
    assert found == {
        ("a.py", "bugs/declared-encoding"): "# coding: unicode_escape",
        ("a.py", "bugs/syntax-error"): "def run(: pass",
    }


def test_a_stored_review_is_shown_again_and_in_its_formats(repo: Repo) -> None:
    (repo.folder / "a.py").write_text("def f(:\n")
    repo.commit("Break it")
    home = ("--home", str(repo.folder.parent / "home"))
    printed = leadhand("review", "-q", *home, "--format", "sarif", folder=repo.folder)
    shown = leadhand("show", "last", *home, "--format", "sarif", folder=repo.folder)
    assert shown.status == 0
    assert "syntax" in printed.out
    assert json.loads(shown.out) == json.loads(printed.out)
    whole = leadhand("show", "last", *home, folder=repo.folder).out
    assert "1 finding: 1 critical." in whole
    assert "def f(:" in whole
    assert "tasks\n  ✓ security completed" in whole
    line = leadhand("show", "last", *home, "--format", "oneline", folder=repo.folder).out
    assert line.startswith("a.py:1:1: bugs/syntax-error ")


@pytest.mark.parametrize("name", ["shop/bad_import.py", "invalid_order.py", "broken.py"])
def test_a_new_file_outside_of_tests_that_does_not_parse_is_a_fact_whatever_its_name(
    repo: Repo, name: str
) -> None:
    repo.commit("Add a file", {name: "def f(x)\n    return x\n"})
    status, review = reviewed(repo.folder)
    assert status == 1
    assert [one.rule for one in review.findings] == ["bugs/syntax-error"]


def test_a_patch_that_only_removes_lines_names_the_lenses_that_did_not_read_it(
    tmp_path: Path,
) -> None:
    patch = tmp_path / "change.diff"
    patch.write_text(
        "--- a/shop.py\n+++ b/shop.py\n"
        "@@ -1,3 +1,2 @@\n-@login_required\n def order():\n     pass\n"
    )
    ended = leadhand("review", "-q", "--json", "--diff", str(patch), folder=tmp_path)
    review = Review.model_validate(json.loads(ended.out)["output"])
    why = {one.lens: one.why for one in review.not_assessed}
    assert why["security"] == "only a patch is available, so only secrets were checked"


def test_the_document_has_the_changed_code_of_each_finding_without_its_secrets(
    tmp_path: Path,
) -> None:
    key = "AKIA" + "Z7QXM3NPLR5TBVKD"
    repo = Repo(tmp_path)
    repo.commit("Begin", {"app.py": "def run() -> None:\n    print(1)\n"})
    after = f'def run() -> None:\n    key = "{key}"\n    print(missing)\n'
    repo.commit("Go on", {"app.py": after})
    ended = leadhand("review", "--json", "--quiet", folder=tmp_path)
    review = Review.model_validate(json.loads(ended.out)["output"])
    shown = {one.id: one for one in (*review.findings, *review.look)}
    assert shown.keys() == review.code.keys()
    undefined = next(one for one in shown.values() if one.rule == "bugs/undefined-name")
    lines = review.code[undefined.id].split("\n")
    assert [line.split("|")[0].split() for line in lines] == [
        ["1"],
        ["-", "2"],
        ["+", "2"],
        ["+", "3"],
    ]
    assert lines[-1].endswith("print(missing)")
    assert key not in ended.out
