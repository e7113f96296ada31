"""What the past reviews lens reads from an export, and which new code it reports as similar."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pytest

from leadhand.contracts.answer import LensReport
from leadhand.errors import InputError
from leadhand_teams.review.lenses.past_reviews import RULES, load_export, review
from tests.costs import assert_linear
from tests.leadhand_teams.review.changes import make_change, only, run_lens

SESSION = "response = requests.get(profile_url, verify=False, timeout=settings.timeout)"
LOOP = [
    "for account in ledger.accounts:",
    "    total += account.balance",
    "    audit.note(account)",
]


def comment(
    *lines: str, body: str = "This skips the check of certificates.", **more: object
) -> dict[str, object]:
    """A review comment as GitHub returns it, on the last of `lines`, which a change added."""
    hunk = "\n".join(["@@ -1,2 +1,9 @@ def load():", " before()", *(f"+{line}" for line in lines)])
    return {
        "path": "app/profile.py",
        "diff_hunk": hunk,
        "body": body,
        "user": {"login": "maintainer", "type": "User"},
        "html_url": "https://github.com/o/r/pull/7#discussion_r42",
        "created_at": "2024-05-06T07:08:09Z",
        "original_line": 9,
        **more,
    }


def write(folder: Path, *comments: object) -> Path:
    file = folder / "reviews.json"
    file.write_text(json.dumps(comments))
    return file


def look(folder: Path, after: dict[str, str], export: Path | None) -> LensReport:
    snapshot = folder / "snapshot"
    snapshot.mkdir()
    before = dict.fromkeys(after, "import requests\n")
    change = make_change(snapshot, after, before)
    past_reviews = str(export) if export else None
    return run_lens(partial(review, past_reviews=past_reviews), change)


def text(*lines: str) -> str:
    return "\n".join(["import requests", "", *lines, ""])


class TestSimilarHunks:
    def test_a_long_line_is_found_with_the_comments_author_text_and_place(
        self, tmp_path: Path
    ) -> None:
        found = only(look(tmp_path, {"app/x.py": text(SESSION)}, write(tmp_path, comment(SESSION))))
        assert found.rule == "past_reviews/similar-hunk"
        assert (found.path, found.line, found.evidence) == ("app/x.py", 3, SESSION)
        assert "maintainer" in found.message
        assert "`app/profile.py` on 2024-05-06" in found.message
        assert '"This skips the check of certificates."' in found.message
        assert "https://github.com/o/r/pull/7#discussion_r42" in found.message

    def test_names_and_white_space_may_differ_a_little(self, tmp_path: Path) -> None:
        line = SESSION.replace("response", "answer").replace(", ", ",  ")
        assert only(look(tmp_path, {"a.py": text(line)}, write(tmp_path, comment(SESSION))))

    @pytest.mark.parametrize(
        ("old", "new"), [("verify=False", "verify=True"), ("settings.timeout", "30")]
    )
    def test_another_value_or_number_is_other_code(
        self, tmp_path: Path, old: str, new: str
    ) -> None:
        line = SESSION.replace(old, new)
        report = look(tmp_path, {"a.py": text(line)}, write(tmp_path, comment(SESSION)))
        assert report.findings == ()

    def test_three_short_lines_together_are_enough(self, tmp_path: Path) -> None:
        export = write(tmp_path, comment(*LOOP, body="Sum in the database instead."))
        assert only(look(tmp_path, {"a.py": text(*LOOP)}, export)).line == 5

    def test_fewer_short_lines_are_not(self, tmp_path: Path) -> None:
        export = write(tmp_path, comment(*LOOP, body="Sum in the database instead."))
        assert look(tmp_path, {"a.py": text(*LOOP[1:])}, export).findings == ()

    def test_code_above_the_commented_line_is_not_what_the_comment_is_about(
        self, tmp_path: Path
    ) -> None:
        export = write(tmp_path, comment(SESSION, "raise ProfileMissing(profile_url, response)"))
        assert look(tmp_path, {"a.py": text(SESSION)}, export).findings == ()

    def test_a_comment_over_several_lines_is_about_all_of_them(self, tmp_path: Path) -> None:
        lines = (SESSION, "raise ProfileMissing(profile_url, response)")
        export = write(tmp_path, comment(*lines, original_start_line=8, original_line=9))
        assert only(look(tmp_path, {"a.py": text(SESSION)}, export))

    def test_a_comment_on_a_bracket_is_about_the_code_it_closes(self, tmp_path: Path) -> None:
        export = write(tmp_path, comment(SESSION, ")"))
        assert only(look(tmp_path, {"a.py": text(SESSION)}, export))

    def test_a_comment_about_the_same_file_goes_first(self, tmp_path: Path) -> None:
        export = write(
            tmp_path,
            comment(SESSION, body="Said of another file."),
            comment(SESSION, body="Said of this very file.", path="a.py"),
        )
        found = only(look(tmp_path, {"a.py": text(SESSION)}, export))
        assert "Said of this very file." in found.message
        assert "this file" in found.message

    @pytest.mark.parametrize(
        "body",
        ["nit: rename this variable please", "LGTM", "Thanks for fixing this!", "👍", "Done."],
    )
    def test_praise_thanks_and_nits_are_left_out(self, tmp_path: Path, body: str) -> None:
        export = write(tmp_path, comment(SESSION, body=body))
        assert look(tmp_path, {"a.py": text(SESSION)}, export).findings == ()

    @pytest.mark.parametrize(
        "more", [{"in_reply_to_id": 3}, {"side": "LEFT"}, {"user": {"login": "b", "type": "Bot"}}]
    )
    def test_replies_bots_and_comments_on_removed_code_are_left_out(
        self, tmp_path: Path, more: dict[str, object]
    ) -> None:
        export = write(tmp_path, comment(SESSION) | more)
        assert look(tmp_path, {"a.py": text(SESSION)}, export).findings == ()

    def test_a_line_that_many_comments_share_is_ignored(self, tmp_path: Path) -> None:
        export = write(tmp_path, *(comment(SESSION, body=f"Remark {n} on this") for n in range(9)))
        assert look(tmp_path, {"a.py": text(SESSION)}, export).findings == ()

    def test_without_an_export_it_says_so_once(self, tmp_path: Path) -> None:
        report = look(tmp_path, {"a.py": text(SESSION), "b.py": text(SESSION)}, None)
        assert report.findings == ()
        (said,) = report.not_assessed
        assert (said.lens, said.path) == ("past_reviews", None)
        assert said.why == (
            "no export of earlier reviews was given; pass one with --past-reviews FILE"
        )


class TestUntrusted:
    def test_f34_f35_control_characters_and_line_ends_are_stripped_from_what_is_quoted(
        self, tmp_path: Path
    ) -> None:
        hostile = "Bad \x1b]52;c;aGk=\x07\x1b[31mred\r\n\u202etext\u200b here\x00 today"
        export = write(
            tmp_path,
            comment(SESSION, body=hostile, user={"login": "eve\x1b[2J\n"}, path="a\x07\nb.py"),
        )
        assert only(look(tmp_path, {"a.py": text(SESSION)}, export)).message.isprintable()

    def test_a_long_comment_is_cut_at_200_characters(self, tmp_path: Path) -> None:
        export = write(tmp_path, comment(SESSION, body="word " * 500))
        message = only(look(tmp_path, {"a.py": text(SESSION)}, export)).message
        assert len(message.split('"')[1]) <= 200

    @pytest.mark.parametrize(
        "link", ["javascript:alert(1)", "https://user:secret@host/x", "https://a b/", 7, None]
    )
    def test_what_is_no_plain_web_address_is_not_linked(self, tmp_path: Path, link: object) -> None:
        export = write(tmp_path, comment(SESSION, html_url=link))
        assert load_export(export)[0].url == ""

    def test_f36_what_a_link_asks_for_is_dropped(self, tmp_path: Path) -> None:
        export = write(tmp_path, comment(SESSION, html_url="https://host/x?token=secret#r1"))
        assert load_export(export)[0].url == "https://host/x#r1"

    def test_a_deleted_user_is_someone(self, tmp_path: Path) -> None:
        assert load_export(write(tmp_path, comment(SESSION, user=None)))[0].author == "someone"


def one_array(comments: list[dict[str, object]]) -> str:
    return json.dumps(comments, indent=2)


def pages_after_each_other(comments: list[dict[str, object]]) -> str:
    return "".join(json.dumps([item]) for item in comments)


def one_a_line(comments: list[dict[str, object]]) -> str:
    return "\n".join(json.dumps(item) for item in comments) + "\n"


def an_object_with_a_list(comments: list[dict[str, object]]) -> str:
    return json.dumps({"total": 2, "comments": comments})


def slurped_pages(comments: list[dict[str, object]]) -> str:
    return json.dumps([[item] for item in comments])


class TestExport:
    @pytest.mark.parametrize(
        "form",
        [one_array, pages_after_each_other, one_a_line, an_object_with_a_list, slurped_pages],
    )
    def test_every_form_that_the_tools_write_is_read(
        self, tmp_path: Path, form: Callable[[list[dict[str, object]]], str]
    ) -> None:
        file = tmp_path / "reviews.json"
        file.write_text(form([comment(SESSION), comment(*LOOP)]))
        assert len(load_export(file)) == 2

    def test_a_comment_keeps_the_code_at_the_end_of_its_hunk(self, tmp_path: Path) -> None:
        item = comment()
        item["diff_hunk"] = "@@ -1,3 +1,3 @@\n kept\n-old\n+new"
        (found,) = load_export(write(tmp_path, item))
        assert found.lines == ("kept", "new")

    def test_an_empty_list_has_no_comments(self, tmp_path: Path) -> None:
        assert load_export(write(tmp_path)) == ()

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "is empty"),
            (b"[1]", "comment 1 is of type int, not an object"),
            (b'[{"path": "a", "body": "b"}]', "comment 1 has no 'diff_hunk'"),
            (b'[{"path": "a", "body": "b", "diff_hunk": 3}]', "'diff_hunk' is not text"),
            (b'[{"path": "a",\n "body": }]', "is not JSON at line 2, column 10"),
            (b'{"message": "Not\\u001b Found"}', 'no list of comments in it (it says "Not Found")'),
            (b"<html></html>", "is not JSON at line 1, column 1"),
            (b"\xff\xfe", "is not UTF-8"),
            (b"[" * 100_000, "is nested too deeply"),
            (b"[" + b"9" * 5_000 + b"]", "a number that is too long"),
            (b'"text"', "holds a str, not comments"),
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


def test_sixty_times_the_comments_and_hunks_take_about_sixty_times_as_long(tmp_path: Path) -> None:
    def lines(start: int, count: int, name: str = "result") -> list[str]:
        return [
            f"{name}_{n} = client.fetch_{n % 31}(session, item_{n % 1009}, limit={n % 13})"
            for n in range(start, start + count)
        ]

    def change_of(comments: int) -> tuple[Path, dict[str, str], Path]:
        folder = Path(mkdtemp(dir=tmp_path))
        remarks = (comment(*lines(n * 7, 5), body=f"Remark number {n}") for n in range(comments))
        after: dict[str, str] = {}
        for n in range(comments // 100):
            hunks = ("\n".join(lines(n * 311 + at * 17, 8, "answer")) for at in range(10))
            after[f"m{n}.py"] = text(*hunks)
        return folder, after, write(folder, *remarks)

    assert_linear(lambda given: look(*given), change_of, 160)


def test_every_rule_is_named_for_the_lens() -> None:
    assert [(rule.id, rule.family) for rule in RULES] == [
        ("past_reviews/similar-hunk", "past_reviews/similar-hunk")
    ]
