"""What the models of comments, guidelines and past reviews read, and what is said without one."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand_teams.review.lenses import guidelines, past_reviews
from leadhand_teams.review.lenses.comments import written_beside
from leadhand_teams.review.lenses.guidelines import stated_rules
from leadhand_teams.review.lenses.past_reviews import earlier_comments, load_export
from tests.leadhand_teams.review.changes import make_change, run_lens

SESSION = "response = requests.get(profile_url, verify=False, timeout=settings.timeout)"


def comment(line: str = SESSION, /, **more: object) -> dict[str, object]:
    """A review comment as GitHub returns it, on `line`, which a change added."""
    return {
        "path": "app/profile.py",
        "diff_hunk": f"@@ -1,2 +1,9 @@ def load():\n before()\n-old()\n+{line}",
        "body": "This skips the check of certificates.",
        "user": {"login": "maintainer", "type": "User"},
        "created_at": "2024-05-06T07:08:09Z",
        **more,
    }


def write(folder: Path, *comments: object) -> Path:
    file = folder / "reviews.json"
    file.write_text(json.dumps(comments))
    return file


class TestWrittenBeside:
    def test_a_docstring_far_from_what_changed_is_shown_with_its_lines(
        self, tmp_path: Path
    ) -> None:
        body = "".join(f"    x{n} = {n}\n" for n in range(30))
        shape = f'def pay(amount):\n    """Pay at most 30 euros."""\n{body}    return {{}}\n'
        change = make_change(
            tmp_path, {"a.py": shape.format("amount")}, {"a.py": shape.format("min(amount, 30)")}
        )
        shown = written_beside(change, {"a.py"})
        assert shown == 'a.py:\n    2 |     """Pay at most 30 euros."""'
        assert not written_beside(change, {"b.py"})

    def test_a_comment_that_asks_to_change_another_place_is_shown(self, tmp_path: Path) -> None:
        shape = '// Keep in sync with limits.go.\nlet at = "keep in sync";\n\nlet limit = {};\n'
        change = make_change(tmp_path, {"a.js": shape.format(1)}, {"a.js": shape.format(2)})
        shown = written_beside(change, {"a.js"})
        assert shown == "a.js:\n    1 | // Keep in sync with limits.go."

    def test_what_the_change_itself_writes_is_not(self, tmp_path: Path) -> None:
        after = 'def pay(amount):\n    """Pay it."""\n    return amount\n'
        assert not written_beside(make_change(tmp_path, {"a.py": after}), {"a.py"})


class TestStatedRules:
    def test_documents_are_shown_nearest_first_where_they_apply(self, tmp_path: Path) -> None:
        texts = {
            "AGENTS.md": "Log.\n",
            "shop/CLAUDE.md": "Never print.\n",
            "web/AGENTS.md": "Not here.\n",
            "vendor/AGENTS.md": "Nor here.\n",
            "README.md": "Read me.\n",
        }
        shown = stated_rules(make_change(tmp_path, texts), {"shop/pay.py"})
        assert shown.index("shop/CLAUDE.md:\n    1 | Never print.") < shown.index("AGENTS.md:\n")
        assert "here" not in shown
        assert "Read" not in shown

    def test_what_is_too_long_is_cut_and_named(self, tmp_path: Path) -> None:
        texts = {"a/AGENTS.md": "Do.\n" * 5_000, "CONTRIBUTING.md": "Be kind.\n"}
        shown = stated_rules(make_change(tmp_path, texts), {"a/b.py"})
        assert len(shown) < guidelines.MAX_CHARS + 200
        assert shown.endswith("(cut: the rest was left out)\n\nCONTRIBUTING.md was left out")

    @pytest.mark.parametrize(
        ("path", "idle"), [("AGENTS.md", False), ("a.py", False)], ids=["documents", "only a patch"]
    )
    def test_without_a_model_that_is_said(self, tmp_path: Path, path: str, idle: bool) -> None:
        report = run_lens(guidelines.review, make_change(tmp_path, {path: "x = 1\n"}))
        (said,) = report.not_assessed
        assert (said.lens, said.idle, report.findings) == ("guidelines", idle, ())


class TestEarlierComments:
    def test_a_comment_on_like_code_is_shown_with_author_place_and_code(
        self, tmp_path: Path
    ) -> None:
        export = write(tmp_path, comment(), comment("total += len(rows)", body="Sum it there."))
        after = {"app/x.py": f"import requests\n{SESSION.replace('response', 'answer')}\n"}
        change = make_change(tmp_path, after, {"app/x.py": "import requests\n"})
        assert earlier_comments(change, {"app/x.py"}, export).split("\n") == [
            "maintainer on app/profile.py (2024-05-06): This skips the check of certificates.",
            "    before()",
            f"    {SESSION}",
        ]
        assert not earlier_comments(change, {"app/y.py"}, export)

    @pytest.mark.parametrize(
        "more",
        [
            {"in_reply_to_id": 3},
            {"side": "LEFT"},
            {"user": {"login": "b", "type": "Bot"}},
            {"diff_hunk": "@@ -1 +0,0 @@\n-old"},
            {"body": None},
        ],
    )
    def test_replies_bots_and_comments_on_removed_code_are_left_out(
        self, tmp_path: Path, more: dict[str, object]
    ) -> None:
        assert load_export(write(tmp_path, comment(**more))) == ()

    def test_f34_f35_control_characters_and_line_ends_are_escaped(self, tmp_path: Path) -> None:
        hostile = "Bad \x1b]52;c;aGk=\x07\x1b[31mred\r\n\u202etext\u200b here\x00 today"
        user = {"login": "eve\x1b[2J\n"}
        (found,) = load_export(write(tmp_path, comment(body=hostile, user=user, path="a\x07\nb")))
        assert all(line.isprintable() for line in str(found).split("\n"))
        assert str(found).count("\n") == 2

    @pytest.mark.parametrize(("given", "idle"), [(None, True), ("reviews.json", False)])
    def test_without_a_model_that_is_said(
        self, tmp_path: Path, given: str | None, idle: bool
    ) -> None:
        change = make_change(tmp_path, {"a.py": "x = 1\n"})
        report = run_lens(partial(past_reviews.review, past_reviews=given), change)
        (said,) = report.not_assessed
        assert (said.lens, said.idle, report.findings) == ("past_reviews", idle, ())


def one_array(comments: list[dict[str, object]]) -> str:
    return json.dumps(comments, indent=2)


def pages_after_each_other(comments: list[dict[str, object]]) -> str:
    return "".join(json.dumps([item]) for item in comments)


def one_a_line(comments: list[dict[str, object]]) -> str:
    return "\n".join(json.dumps(item) for item in comments) + "\n"


def slurped_pages(comments: list[dict[str, object]]) -> str:
    return json.dumps([[item] for item in comments])


class TestExport:
    @pytest.mark.parametrize(
        "form",
        [one_array, pages_after_each_other, one_a_line, slurped_pages],
    )
    def test_every_form_that_the_tools_write_is_read(
        self, tmp_path: Path, form: Callable[[list[dict[str, object]]], str]
    ) -> None:
        file = tmp_path / "reviews.json"
        file.write_text(form([comment(), comment("total += len(rows)")]))
        assert len(load_export(file)) == 2

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "is empty"),
            (b"[1]", "comment.1: Input should be a valid dictionary"),
            (b'[{"path": "a", "body": "b"}]', "comment.1.diff_hunk: Field required"),
            (b'[{"path": "a",\n "body": }]', "is not JSON (Expecting value: line 2 column 10"),
            (b'{"message": "Not\\u001b Found"}', "comment.1.path: Field required"),
            (b"\xff\xfe", "is not UTF-8"),
            (b"[" * 100_000, "is not JSON (maximum recursion"),
            (b"[" + b"9" * 5_000 + b"]", "is not JSON (Exceeds the limit"),
        ],
    )
    def test_a_bad_file_is_reported_in_one_line_with_the_place(
        self, tmp_path: Path, content: bytes, said: str
    ) -> None:
        file = tmp_path / "reviews.json"
        file.write_bytes(content)
        with pytest.raises(InputError) as raised:
            load_export(file)
        assert said in str(raised.value)
        assert "reviews.json" in str(raised.value)
        assert "\n" not in str(raised.value)

    def test_a_missing_file_is_reported_in_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"can't read .*none\.json: No such file"):
            load_export(tmp_path / "none.json")
