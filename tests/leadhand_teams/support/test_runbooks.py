"""Runbooks as decision trees, and Markdown lists that become runbooks."""

import pytest

from leadhand_teams.support.library import own_library, signatures
from leadhand_teams.support.lists import main, runbooks_of
from leadhand_teams.support.runbooks import Symptoms, Unusable, read_runbooks, to_yaml, walk

LIST = """
# A script keeps timing out

When: times out, timed out, TimeoutError
Severity: high

1. Run it once more with `logging` on.
2. What does it wait for?
   - A server (requests, api, http)
     1. Call the address by itself,
        from the same machine.
     2. Set a timeout:
        - for connecting
        - for reading
   - A database (query, sql): look for locks.
   - The disk
     - Person: only operations may add one

## Pitfalls
- A longer timeout hides a server that hangs.

# Sign-in fails
- Use the newest link.
"""


def test_a_markdown_list_becomes_a_decision_tree_that_leads_by_the_words_of_a_request() -> None:
    slow, sign_in = runbooks_of(LIST, "wiki.md")
    assert (slow.title, slow.severity, slow.ref) == (
        "A script keeps timing out",
        "high",
        "wiki.md#A script keeps timing out",
    )
    assert sign_in.when == ("sign-in fails",)
    server = walk(slow, Symptoms("It timed out while calling the API"))
    assert server.steps == (
        "Run it once more with `logging` on.",
        "Call the address by itself, from the same machine.",
        "Set a timeout: for connecting; for reading",
    )
    assert server.pitfalls == ("A longer timeout hides a server that hangs.",)
    assert server.question == ""
    disk = walk(slow, Symptoms("times out, the disk is slow"))
    assert disk.person == "only operations may add one"


def test_a_branch_that_nothing_decides_is_put_to_the_customer() -> None:
    slow, _ = runbooks_of(LIST, "wiki.md")
    way = walk(slow, Symptoms("it times out"))
    assert way.question == "What does it wait for?"
    assert way.branches[0] == "A server: Call the address by itself, from the same machine."
    assert way.branches[2] == "The disk: only operations may add one"
    assert len(way.branches) == 3


def test_what_the_converter_prints_is_read_as_the_same_runbooks(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path_factory.mktemp("wiki") / "wiki.md"
    file.write_text(LIST)
    main([str(file)])
    made = runbooks_of(LIST, "wiki.md")
    assert capsys.readouterr().out == to_yaml(made)
    assert read_runbooks(to_yaml(made), "wiki.md") == made


def test_text_without_a_list_is_no_runbook() -> None:
    assert runbooks_of("# A title\n\nOnly text.", "a.md") == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1", "no `nodes`"),
        ("nodes: {start: {}}\nwhen: [a]", "title"),
        ("title: A\nwhen: [a]\nnodes: {start: {choices: [{then: gone}]}}", "no node gone"),
        ("title: A\nwhen: [a]\nnodes: {start: {do: [b], shell: rm}}", "shell"),
        ("title: &a A\nwhen: [*a]\nnodes: {start: {}}", "anchors"),
        ("nodes: [", "not YAML"),
        ("nodes:\n- " + "[" * 5_000, "not YAML"),
        ("nodes: !!python/object/apply:os.system [ls]", "no runbook"),
    ],
)
def test_a_file_that_is_no_runbook_is_refused_with_the_reason(text: str, why: str) -> None:
    """F23"""
    with pytest.raises(Unusable, match=why):
        read_runbooks(
            text.replace("nodes: {", "nodes:\n  {").replace("nodes: !", "nodes:\n  !"), "a"
        )


def test_a_tree_that_leads_back_to_itself_ends() -> None:
    (loop,) = read_runbooks("title: A\nwhen: [a]\nnodes:\n  start: {choices: [{then: start}]}", "a")
    assert walk(loop, Symptoms("a")).steps == ()


def test_names_of_errors_are_found_as_they_are_and_words_in_any_form() -> None:
    known = Symptoms("Connections were refused: [Errno 111] ECONNREFUSED, HTTP status 502")
    assert known.names("connection refused")
    assert known.names("refused the connection")
    assert not known.names("connection not refused")
    assert not known.names("connection reset")
    assert not Symptoms("Connect it. It is refused.").names("connection refused")
    assert not Symptoms("It takes time to check out").names("times out")
    assert Symptoms("The light is off").names("light off")
    assert not Symptoms("The light is not on").names("light on")
    assert Symptoms("Our webhooks don't arrive").names("webhook not arriving")
    assert not Symptoms("Where do webhooks arrive?").names("webhook not arriving")
    assert known.names("ECONNREFUSED")
    assert known.names("HTTP status 502")
    assert not known.names("HTTP status 50")


def test_every_runbook_of_the_team_can_be_walked_to_every_end() -> None:
    books = [*own_library().runbooks, *signatures()]
    assert len({one.title for one in books}) == len(books) > 20
    for book in books:
        assert book.when
        assert walk(book, Symptoms(" ".join(book.when))).ref.startswith("leadhand-")
        for node in book.nodes.values():
            assert node.do or node.choices


def test_a_runbook_fits_by_its_matter_and_the_phrase_of_a_branch_where_none_fits_by_when() -> None:
    (book,) = runbooks_of(
        "# An upload breaks off\nWhen: upload failed\n1. Which pages?\n"
        "   - Some are lost (pages lost)\n     - Person: We read the journal.\n",
        "wiki.md",
    )
    found = Symptoms("We uploaded 40 pages today. Now 3 pages were lost.")
    assert found.best([book]) is book
    assert walk(book, found).person == "We read the journal."
    assert Symptoms("We bought a book and 3 pages were lost.").best([book]) is None


DELIVERIES = """
# Deliveries do not arrive
When: deliveries do not arrive

- What does the journal show?
  - Nothing (journal is empty)
    - Is the hook paused?
      - Yes: Resume it.
      - No: Do you use a proxy?
        - Yes: Allow our addresses.
        - No: Call the desk.
  - A status
    - Which one?
      - 401: Renew the secret.
      - 410: Make the hook anew.
  - Timeouts (timed out): Answer within 5 seconds.
"""


@pytest.mark.parametrize(
    ("text", "steps", "question"),
    [
        ("Deliveries do not arrive, we see 410.", ("Make the hook anew.",), ""),
        ("Deliveries do not arrive, without a proxy.", (), "Is the hook paused?"),
        (
            "Deliveries do not arrive. The hook is not paused, we use a proxy.",
            ("Allow our addresses.",),
            "",
        ),
        (
            "Deliveries do not arrive, the journal is not empty.",
            (),
            "What does the journal show?",
        ),
    ],
)
def test_what_a_request_tells_answers_questions_above_and_nothing_that_it_denies(
    text: str, steps: tuple[str, ...], question: str
) -> None:
    (book,) = runbooks_of(DELIVERIES, "hooks.md")
    way = walk(book, Symptoms(text))
    assert (way.steps, way.question) == (steps, question)


CHECKS = """
# Runbook: the gate shows as offline

Use this when the desk says that a gate is offline.

1. Is the lamp of the gate on?
   - No: see [Power](../guide.md#power).
   - Yes: go on.
2. Did you get a new router or a new provider?
   - Yes: follow [Change the network](../guide.md#change-the-network).
   - No: go on.
3. Does the gate beep?
   - Yes: How often?
     - Once: restart it.
     - Twice: call the fitter.
   - No: call the desk.

**Pitfall:** a reset deletes all badges.
"""


@pytest.mark.parametrize(
    ("text", "steps", "question"),
    [
        ("We have a new router, and gate 4 is offline", ["follow [Change the network]"], ""),
        ("Gate 4 is offline, its lamp is off.", ["see [Power]"], ""),
        ("The gate is offline. It does not beep.", ["call the desk."], ""),
        ("The gate is offline, it beeps.", [], "How often?"),
        ("Gate 4 is offline", ["Is the lamp", "Did you get a new"], "Does the gate beep?"),
    ],
)
def test_questions_of_a_checklist_are_answered_by_the_request(
    text: str, steps: list[str], question: str
) -> None:
    (book,) = runbooks_of(CHECKS, "runbooks/gates.md")
    way = walk(book, Symptoms(text))
    assert way.question == question
    assert [one[: len(start)] for one, start in zip(way.steps, steps, strict=True)] == steps
    assert way.pitfalls == ("a reset deletes all badges.",)
    if "router" in text:
        assert way.sees == ("guide.md#change-the-network",)
