"""A review as Markdown, SARIF, annotations and JSON, from friendly and from hostile findings."""

import io
import json
import re
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from leadhand.cli.views.markdown_text import code, fenced, prose
from leadhand.contracts.answer import Gap, NotAssessed, Place
from leadhand.synthesis.findings import Dropped, Quote
from leadhand_teams.review import ReviewFormat
from leadhand_teams.review.command.execution import show
from leadhand_teams.review.command.github import annotate, annotation, inert
from leadhand_teams.review.command.markdown import COMMENT_BYTES, MARKER, markdown
from leadhand_teams.review.command.report import ReviewReport
from leadhand_teams.review.command.sarif import sarif, uri
from leadhand_teams.review.command.text import show_review
from tests.leadhand_teams.review.command.reviews import finding, many, report
from tests.leadhand_teams.review.command.sarif_schema import problem

HOSTILE = (
    "![x](https://evil.example/p.png) [y](javascript:alert(1)) <img src=x onerror=a()> <!-- "
    "@octocat a@evil.example www.evil.example #12 `unpaired ```` </details> ~~~ $x$ | | :bomb: "
    "<https://evil.example> &lt; ::set-output name=a::b ##[command] %0A"
)
BROKEN = "\ud800 \0 \x1b[31m \x9b \u202e \u200b \r\n::error::x"


def page(text: str) -> MarkdownIt:
    """What stands for GitHub's renderer."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def kinds(text: str) -> set[str]:
    """The kinds of tokens, nested ones included, to which `text` is rendered."""
    tokens = page(text).parse(text)
    return {t.type for token in tokens for t in (token, *(token.children or ()))}


def html(text: str) -> list[str]:
    """What a renderer would pass through as HTML."""
    tokens = page(text).parse(text)
    inner = [t for token in tokens for t in (token, *(token.children or ()))]
    return [t.content.strip() for t in inner if t.type in ("html_block", "html_inline")]


def plain(text: str) -> str:
    """The rendered text outside code, in which mentions and links count."""
    tokens = page(text).parse(text)
    return " ".join(t.content for token in tokens for t in token.children or () if t.type == "text")


def hostile(text: str) -> ReviewReport:
    """A report in which every piece of text from the repository or a worker is `text`."""
    one = finding(
        path=text, message=text, suggestion=text, evidence=text, rule=f"security/{text}",
        lenses=(text, "bugs"),
    )  # fmt: skip
    return report(
        one,
        look=(one,),
        suppressed=(one,),
        not_assessed=(NotAssessed(lens=text, path=text, why=text),),
        dropped=(Dropped(rule=text, path=text, line=1),),
        quotes={one.id: Quote(side="added", lines=(8,))},
        title=text,
        status="partial",
        gaps=(Gap(task_id=text, why=text),),
    )


def printed(
    capfdbinary: pytest.CaptureFixture[bytes], made: ReviewReport, how: ReviewFormat
) -> str:
    show(made, how)
    return capfdbinary.readouterr().out.decode("utf-8")


def one_run(made: ReviewReport) -> dict[str, list[dict[str, object]]]:
    runs = cast("list[dict[str, list[dict[str, object]]]]", sarif(made)["runs"])
    return runs[0]


# Markdown


def test_a_comment_shows_findings_and_folds_what_was_left_out() -> None:
    removed = Quote(side="removed", lines=(14,))
    text = markdown(
        report(
            finding(id="a"),
            finding(id="b", rule="security/removed-check", evidence="    check(user)"),
            suppressed=(finding(confidence=40, rule="bugs/late-closure"),),
            not_assessed=(NotAssessed(lens="history", why="a patch has no history"),),
            hidden_by_baseline=("c",),
            quotes={"a": Quote(side="added", lines=(8,)), "b": removed},
        )
    )
    assert text.startswith(MARKER)
    assert "### 2 findings: 2 critical" in text
    assert "`src/app.py:8` · `security/yaml-load` · confidence 90" in text
    assert "```python\nreturn yaml.load(request.data)\n```" in text
    assert "```diff\n-check(user)\n```" in text
    assert "→ Use `yaml.safe_load`." in text
    assert "<details><summary>Suppressed: 1 finding below confidence 80</summary>" in text
    assert "<details><summary>Not assessed: 1 reason</summary>" in text
    assert "history: a patch has no history" in text
    assert "Baseline: 1 finding left out: the baseline has them" in text


def test_what_needs_a_look_is_told_apart_and_shown_up_to_ten(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "s.md"))
    look = tuple(
        finding(id=f"l{n}", line=n, confidence=60, message=f"Look {n}.") for n in range(1, 13)
    )
    made = report(finding(id="a", message="Found."), look=look)
    for how in ("text", "markdown"):
        out = printed(capfdbinary, made, how)
        assert "1 finding: 1 critical; 12 need a look" in out
        found, _, rest = out.partition(
            "\n### Needs a look" if how == "markdown" else "\nNeeds a look"
        )
        assert "Found." in found
        assert "Look" not in found
        assert re.findall(r"Look (\d+)\.", rest) == [str(n) for n in range(1, 11)]
        assert "2 more need a look" in rest
    lines = printed(capfdbinary, made, "github").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error"] + ["::notice"] * 10
    assert "title=Needs a look%3A security/yaml-load (confidence 60)" in lines[1]
    levels = [result["level"] for result in one_run(made)["results"]]
    assert levels == ["error"] + ["note"] * 12
    assert len(json.loads(printed(capfdbinary, made, "json"))["output"]["look"]) == 12


def test_every_format_names_further_places(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    places = tuple(Place(path=f"p{n}.py", line=n, end_line=n) for n in range(1, 31))
    made = report(finding().model_copy(update={"places": places}))
    assert "Also at p1.py:1, p2.py:2" in printed(capfdbinary, made, "text")
    assert "p10.py:10" in markdown(made)
    assert "20 more" in markdown(made)
    assert "Also at p1.py:1" in annotation(made.review.findings[0])
    assert problem(sarif(made)) == ""
    assert len(cast("list[object]", one_run(made)["results"][0]["relatedLocations"])) == 30


def test_a_fact_is_called_one() -> None:
    fact = finding(confidence=100).model_copy(update={"basis": "fact"})
    assert "`security/yaml-load` · a fact" in markdown(report(fact))


def test_nothing_in_a_comment_comes_alive_whatever_the_text_says() -> None:
    """F16, F32."""
    text = markdown(hostile(HOSTILE))
    assert kinds(text).isdisjoint({"link_open", "image", "table_open", "s_open"})
    shells = r"<!-- leadhand review -->|<details><summary>[\w :]+</summary>|</?details>|</?sub>"
    assert [tag for tag in html(text) if not re.fullmatch(shells, tag)] == []
    assert re.search(r"@|://|www\.|#\d|\$", plain(text)) is None
    assert text.count("<details>") == text.count("\n</details>") == 3


@given(st.text(alphabet="`\\*_[]()<>!#+-=.|~&^:@$/ \n1ax", max_size=40))
def test_prose_is_one_paragraph_of_text_and_code(text: str) -> None:
    """F32."""
    made = prose(text)
    assert kinds(made) <= {"paragraph_open", "paragraph_close", "inline", "text", "code_inline"} | {
        "text_special"
    }
    assert re.search(r"@|://|\$|#\d", plain(made)) is None


@given(st.text(alphabet="`~\\ \n<a", max_size=40))
def test_code_stays_code(text: str) -> None:
    """F32."""
    assert kinds(code(text)) <= {"paragraph_open", "paragraph_close", "inline", "code_inline"}
    blocks = page("").parse(fenced(text))
    assert [block.type for block in blocks] == ["fence"]
    assert blocks[0].content.rstrip("\n") == text.rstrip("\n")


def test_a_word_that_would_be_a_link_or_a_mention_is_set_as_code() -> None:
    """F16."""
    assert prose("ask @octocat, see https://a.example/b or #7") == (
        "ask `@octocat,` see `https://a.example/b` or `#7`"
    )
    assert prose("a cross-file use of `x` (in 3.) stays readable") == (
        "a cross-file use of `x` (in 3.) stays readable"
    )


def test_dates_and_clauses_keep_their_signs() -> None:
    assert prose("2026-01") == "2026-01"
    assert prose("3.2 applies") == "3.2 applies"
    assert prose("at 08:00:04") == "at 08:00:04"


def test_a_comment_fits_and_counts_what_does_not() -> None:
    made = report(
        *(
            finding(id=str(n), line=n, message="ä" * 799, suggestion="ö" * 799)
            for n in range(1, 21)
        ),
        look=tuple(finding(id=f"l{n}", line=n, message="ü" * 799) for n in range(1, 11)),
        suppressed=tuple(many(2_000)),
        not_assessed=tuple(
            NotAssessed(lens="bugs", path=f"{n}.py", why=f"reason {n}") for n in range(2_000)
        ),
    )
    text = markdown(made)
    assert len(text.encode()) <= COMMENT_BYTES < 65_536
    left = re.findall(r"\*(\d+) more findings did not fit here", text)
    assert text.count("🔴 **critical**") + sum(map(int, left)) == 30
    assert left
    assert len(re.findall(r"[\d,]+ more; `--format json` lists all", text)) == 2
    assert "history" not in text
    assert text.rstrip().endswith("</details>")


def test_a_comment_of_nothing_but_escapes_still_fits() -> None:
    """F07."""
    made = hostile("\U000e0100" * 5_000)
    assert len(markdown(made).encode()) <= COMMENT_BYTES


# SARIF


def test_sarif_has_rules_results_suppressions_and_what_was_not_assessed() -> None:
    made = report(
        finding(id="a", severity="info", line=3, end_line=5),
        finding(id="b", severity="warning", rule="past_reviews/other"),
        suppressed=(finding(id="c"),),
        not_assessed=(NotAssessed(lens="history", path="a b.py", why="too young"),),
        dropped=(Dropped(rule="bugs/x", path="a.py", line=2),),
        hidden_by_baseline=("d",),
        quotes={"a": Quote(side="removed", lines=(9,))},
    )
    assert problem(sarif(made)) == ""
    run = one_run(made)
    results = run["results"]
    assert [result["level"] for result in results] == ["note", "warning", "note"]
    assert results[2]["suppressions"] == [
        {"kind": "external", "justification": "Confidence below the threshold of 80."}
    ]
    assert "suppressions" not in results[0]
    assert results[0]["partialFingerprints"] == {
        "primaryLocationLineHash": "a",
        "leadhandFinding/v1": "a",
    }
    driver = cast("dict[str, dict[str, list[dict[str, object]]]]", run["tool"])["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == ["past_reviews/other", "security/yaml-load"], "only rules that occur"
    assert [ids[cast("int", result["ruleIndex"])] for result in results] == [
        result["ruleId"] for result in results
    ]
    assert "yaml.safe_load" in str(driver["rules"][1]["help"])
    notes = cast("list[dict[str, object]]", run["invocations"][0]["toolExecutionNotifications"])
    kinds_of_notes = [cast("dict[str, str]", note["descriptor"])["id"] for note in notes]
    assert kinds_of_notes == ["dropped", "not-assessed", "baseline"]
    assert "a%20b.py" in str(notes[1]["locations"])
    assert run["invocations"][0]["executionSuccessful"] is True


def test_a_partial_review_is_no_successful_execution() -> None:
    made = report(status="partial", gaps=(Gap(task_id="bugs-1", why="timed out"),))
    assert problem(sarif(made)) == ""
    invocation = one_run(made)["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert "bugs-1: timed out" in str(invocation["toolExecutionNotifications"])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a b/ü#?.py", "a%20b/%C3%BC%23%3F.py"),
        ("c:/x.py", "c%3A/x.py"),
        ("//host/x", "host/x"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("a\ud800%", "a%5Cud800%25"),
    ],
)
def test_paths_become_relative_references(path: str, expected: str) -> None:
    """F32: no path can name a scheme or a host."""
    assert uri(path) == expected


@pytest.mark.parametrize("text", [HOSTILE, BROKEN])
def test_sarif_of_hostile_text_is_valid_and_has_no_links(text: str) -> None:
    """F07, F16, F34."""
    log = sarif(hostile(text))
    assert problem(log) == ""
    shown = json.dumps(log, ensure_ascii=False)
    assert "](" not in shown.replace(json.dumps(text, ensure_ascii=False)[1:-1], "")
    assert not re.search("[\0\x1b\x9b\u202e\u200b\ud800]", shown)


# Annotations


def test_annotations_are_workflow_commands_with_the_severity_as_level() -> None:
    command = annotation(finding(line=3, end_line=5, path="a,b:c%.py"))
    assert command == (
        "::error file=a%2Cb%3Ac%25.py,line=3,endLine=5,title=security/yaml-load (confidence 90)::"
        "`yaml.load` reads `request.data`. A document can make it run any code."
        "%0AUse `yaml.safe_load`."
    )
    levels = [annotation(one).split(" ")[0] for one in (*many(1), *many(1, "info"))]
    assert levels == ["::warning", "::notice"]


def test_no_more_than_github_shows_are_annotated_and_the_summary_has_all(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    made = report(*many(14, "critical"), *many(12, "warning"), *many(3, "info"))
    lines = annotate(made, summary).splitlines()
    assert [line.split(" ")[0] for line in lines] == (
        ["::error"] * 10 + ["::warning"] * 10 + ["::notice"] * 3
    )
    assert "Problem critical 10." in lines[9]
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n" + MARKER)
    assert "23 findings of 29 are annotations" in text
    assert "Problem critical 14." in text


@pytest.mark.parametrize("text", [HOSTILE, BROKEN, "::add-mask::x", "\n##[add-path]/tmp"])
def test_without_a_summary_its_text_follows_and_gives_no_commands(text: str) -> None:
    """F14, F34, F35."""
    out = annotate(hostile(text), None)
    lines = out.splitlines()
    assert lines[0].startswith("::error file=")
    assert lines[1].startswith("::notice file=")
    assert all(line.startswith("|") for line in lines[2:])
    assert "##[" not in "\n".join(lines[2:])
    assert "Suppressed" in out
    assert not re.search("[\0\x1b\x9b\u202e\ud800]", out)


def test_a_summary_that_cant_be_written_is_printed(tmp_path: Path) -> None:
    assert MARKER in annotate(report(finding()), tmp_path)
    assert list(inert("::x\n  ##[y]\n")) == ["| ::x", "|   ## [y]"]


# All of them


@pytest.mark.parametrize("how", ["text", "json", "markdown", "sarif", "github"])
@pytest.mark.parametrize("text", [HOSTILE, BROKEN])
def test_no_format_breaks_on_hostile_text(
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    how: ReviewFormat,
    text: str,
) -> None:
    """F07, F34: lone surrogates, NULs and escape sequences."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    out = printed(capfdbinary, hostile(text), how)
    assert not re.search("[\0\x1b\x9b\ud800]", out)
    if how == "json":
        assert json.loads(out)["output"]["findings"][0]["message"] == text
    if how == "sarif":
        assert problem(json.loads(out)) == ""


def test_the_summary_file_that_the_runner_names_is_used(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "s.md"))
    out = printed(capfdbinary, report(finding()), "github")
    assert out.count("\n") == 1
    assert "yaml.load" in (tmp_path / "s.md").read_text(encoding="utf-8")


def test_the_terminal_page_has_no_blanks_at_line_ends_and_keeps_places_whole() -> None:
    long = "services/" + "very_long_name/" * 8 + "module.py"
    made = report(
        finding(path=long, evidence="    a(\n        b)"),
        not_assessed=(NotAssessed(lens="history", why="a patch has no history " * 5),),
    )
    out = io.StringIO()
    show_review(made, Console(file=out, width=60))
    lines = out.getvalue().splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert f"● critical  {long}:8" in lines
    assert max(len(line) for line in lines if long not in line) <= 60
