"""`leadhand router`: what a router decides and why, its figures, and what can't be used."""

import json
import re
from pathlib import Path

import pytest

from leadhand.testing import ScriptedServer
from tests.cli.program import leadhand
from tests.cli.terminal import Terminal
from tests.in_process import InProcess
from tests.programs import Ended
from tests.routing.routers import desk_folder, small_router

TEAM = """\
planner: routed
trained_router: router.json
routes:
  - {worker: billing, words: [refund], also: [technical]}
"""
LINES = [
    ("the invoice", "billing"),
    ("it crashes", "billing"),
    ("it crashes with an error", "technical"),
    ("a joke", None),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Has the folder `desk` of a team with a trained router, and examples."""
    desk = desk_folder(tmp_path, TEAM)
    (desk / "router.json").write_text(small_router().to_json(), encoding="utf-8")
    lines = [json.dumps({"text": text, "worker": worker}) for text, worker in LINES]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def router(*words: str, folder: Path, given: str | None = None) -> Ended:
    return leadhand("router", *words, folder=folder, given=given)


def test_explain_says_which_step_decides_and_what_the_others_say(folder: Path) -> None:
    shown = router("explain", "desk", "Refund what was charged: invoice", folder=folder)
    assert shown.status == 0, shown.err
    assert shown.out.startswith("billing and technical, by the rules\n")
    assert "  rules           billing and technical: rule 1: it has 'refund'\n" in shown.out
    assert re.search(r"\n  trained router  billing: \d\d% confident\n", shown.out)
    assert re.search(r"\n +scores: billing \+\d.\d\d, technical -\d.\d\d, no worker", shown.out)
    assert re.search(r"\n +for the first: '(charged|invoice)' \+", shown.out)
    assert "\n  model           abstains: the team names none; a run asks" in shown.out
    trained = router("explain", "desk", "-", "--json", folder=folder, given="It crashes!")
    found = json.loads(trained.out)
    assert (found["workers"], found["decided_by"]) == (["technical"], "trained router")
    assert found["steps"][0] == {"step": "rules", "workers": [], "why": "no rule matches"}
    assert found["reasons"][0]["ngram"] == "crashes"


def test_a_request_that_no_step_places_waits_for_the_name_of_a_worker(
    folder: Path, in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    kept = ("--home", "runs", "--no-input")
    request = ("run", "A joke about an error", "--team", "desk", "--no-model")
    waits = in_process(*request, "--approve", "escalation", *kept)
    assert waits.status == 3
    asked = "Is it for technical? If not, name the worker that it is for."
    (gap,) = [line for line in waits.out.splitlines() if line.startswith("- `plan`")]
    assert gap.endswith(asked), "without the list of workers"
    (notice,) = [line for line in waits.err.splitlines() if line.startswith("? ")]
    assert notice.endswith(asked)
    assert waits.err.endswith(" --approve | WORKER | --refuse\n")
    typo = in_process("answer", "last", "biling", *kept)
    assert typo.status == 2
    assert "'biling' names no worker: name one of billing, technical, or refuse" in typo.err
    why = in_process("answer", "last", "--refuse", "not for billing", *kept)
    assert why.status == 2
    assert "give --refuse alone, or without it the worker that the request is for" in why.err
    answered = in_process("answer", "last", "billing", *kept)
    assert (answered.status, answered.out.splitlines()[0]) == (0, "billing: A joke about an error")
    found = in_process("router", "examples", "--team", "desk", "--home", "runs")
    assert json.loads(found.out)["why"] == "a person named the worker"
    typo = in_process("router", "examples", "--team", "dekc", "--home", "runs")
    assert typo.status == 2
    assert "no stored run is of a team called 'dekc': there are runs of desk" in typo.err


def test_at_the_terminal_the_name_of_the_worker_is_the_reply(folder: Path) -> None:
    request = ("run", "Tell me a joke", "--team", "desk", "--no-model", "--home", "runs")
    with Terminal(*request, "--approve", "escalation", folder=folder, env={}) as terminal:
        terminal.shows("[a]pprove, [r]efuse, or the worker's name: ")
        terminal.types("biling")
        terminal.shows("That names no worker: billing, technical")
        terminal.shows("[a]pprove, [r]efuse, or the worker's name: ")
        terminal.types("billing")
        terminal.shows("billing: Tell me a joke")
        assert terminal.ended() == 0


def test_a_router_that_abstains_leaves_the_request_to_the_model_which_is_not_asked(
    folder: Path,
) -> None:
    shown = router("explain", "desk", "Tell me a joke", folder=folder)
    assert shown.out.startswith("no step decides\n")
    assert "trained router  abstains: it is unlike the examples of any worker" in shown.out
    with (folder / "desk" / "team.yaml").open("a", encoding="utf-8") as team:
        team.write("model: openai:gpt-5-mini\n")
    shown = router("explain", "desk", "Tell me a joke", folder=folder)
    assert shown.out.startswith("the model decides\n")
    assert "model           abstains: not asked; --ask-model asks it" in shown.out


def test_the_model_is_asked_only_if_that_is_wanted(
    folder: Path, model_server: ScriptedServer
) -> None:
    chosen = {"why": "fun", "worker": "technical", "confidence": 90}
    rule = {"match": {"tool": "choose_worker"}, "reply": {"json": chosen}}
    model_server.configure(script=[rule])
    with (folder / "desk" / "team.yaml").open("a", encoding="utf-8") as team:
        team.write("model: openai-chat:scripted\n")
    assert "by the rules" in router("explain", "desk", "A refund", folder=folder).out
    assert model_server.requests() == []
    shown = router("explain", "desk", "A refund", "--ask-model", folder=folder)
    assert shown.out.startswith("billing and technical, by the rules\n"), shown.err
    assert "\n  model           technical: the model chose it\n" in shown.out
    rule["reply"] = {"json": {**chosen, "worker": "none"}}
    model_server.configure(script=[rule])
    shown = router("explain", "desk", "A joke", "--ask-model", folder=folder)
    assert shown.out.startswith("no step decides\n")
    assert "\n  model           abstains: it is in doubt\n" in shown.out


def test_the_whole_routing_of_a_team_is_tested_on_examples(folder: Path) -> None:
    """Its rules too, and the workers beside the first; a trained router is one step of them."""
    lines: list[tuple[str, str | None, list[str] | None]] = [
        *((text, worker, None) for text, worker in LINES),
        ("a refund for the crash", "billing", ["technical"]),
        ("refund it", "billing", []),
        ("a refund, and a joke", None, None),
    ]
    rows = [json.dumps({"text": text, "worker": to, "also": also}) for text, to, also in lines]
    (folder / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    shown = router("test", "desk", "--examples", "a.jsonl", folder=folder)
    assert shown.status == 0, shown.err
    assert "5 examples of workers, 2 of no worker\n" in shown.out
    assert re.search(r"  right worker, accepted or not +80.0%\n", shown.out)
    assert re.search(r"\n  also right +50.0%\n", shown.out)
    assert re.search(r"\n  rules +3 +1 +2\n  trained router +3 +0 +2\n", shown.out)
    assert "     1  billing -> technical\n" in shown.out
    words = ("test", "desk", "--examples", "a.jsonl", "--json")
    found = json.loads(router(*words, folder=folder).out)
    assert (found["accepted"], found["out_of_scope_accepted"], found["abstained"]) == (1, 0.5, 0)
    assert found["steps"]["none"] == {"requests": 1, "out_of_scope": 1, "right": 0}
    confused = [["billing", "technical", 1], [None, "billing", 1]]
    assert sorted(found["confused"], key=str) == sorted(confused, key=str)
    assert found["trained_router_accuracy"] == 0.4


def test_a_team_whose_router_is_a_model_is_tested_without_a_trained_one(
    folder: Path, model_server: ScriptedServer
) -> None:
    """The model is asked only if that is wanted; what it leaves goes to the default worker."""

    def chooses(text: str, worker: str, *also: str) -> dict[str, object]:
        chosen = {"why": "so", "worker": worker, "confidence": 90, "also": list(also)}
        return {"match": {"role": "router", "contains": text}, "reply": {"json": chosen}}

    script = [chooses("both", "billing", "technical"), chooses("crash", "technical")]
    model_server.configure(script=[*script, chooses("", "none")])
    rules = "routes:\n  - {worker: technical, words: [error]}\n  - {worker: billing}\n"
    team = f"planner: routed\nmodel: openai-chat:scripted\n{rules}"
    (folder / "desk" / "team.yaml").write_text(team, encoding="utf-8")
    rows: list[dict[str, object]] = [
        {"text": "it is both", "worker": "billing", "also": ["technical"]},
        {"text": "it crashes", "worker": "technical", "also": []},
        {"text": "an error", "worker": "technical"},
        {"text": "hello", "worker": "technical"},
        {"text": "a joke", "worker": None},
    ]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ("test", "desk", "--examples", "a.jsonl")
    unasked = router(*words, folder=folder)
    assert "the model would be asked about 4, and is with --ask-model" in unasked.out, unasked.err
    assert re.search(r"  right worker, accepted or not +25.0%\n", unasked.out)
    assert model_server.requests() == []
    found = json.loads(router(*words, "--ask-model", "--json", folder=folder).out)
    assert model_server.stats().by_role == {"router": 4}
    assert (found["accuracy"], found["abstained"], found["also_right"]) == (0.75, 0.25, 1)
    assert found["steps"]["rules"]["requests"] == 1
    assert found["steps"]["model"] == {"requests": 2, "out_of_scope": 0, "right": 2}
    assert found["steps"]["default worker"] == {"requests": 2, "out_of_scope": 1, "right": 0}
    assert "trained_router_accuracy" not in found
    assert found["confused"] == [
        ["technical", "billing", 1],
        [None, "billing", 1],
    ]


def test_a_run_uses_the_trained_router_after_the_rules(folder: Path) -> None:
    ran = leadhand("run", "It crashes", "--team", "desk", "--no-model", folder=folder)
    assert ran.out.startswith("technical: It crashes\n"), ran.err
    both = leadhand("run", "Refund it", "--team", "desk", "--no-model", folder=folder)
    assert "billing: Refund it" in both.out
    assert "technical: Refund it" in both.out


def test_what_cannot_be_used_is_one_line(folder: Path) -> None:
    def refused(*words: str) -> str:
        ended = router(*words, folder=folder)
        assert ended.status == 2
        assert ended.err.count("\n") == 1
        return ended.err

    desk = folder / "desk"
    assert "'review' has no folder of its own" in refused(
        "train", "review", "--examples", "a.jsonl"
    )
    assert "b.jsonl can't be read: No such file" in refused("test", "desk", "--examples", "b.jsonl")
    (folder / "b.jsonl").write_text('{"text": "x", "worker": "sales"}\n', encoding="utf-8")
    assert "b.jsonl, line 1: there is no worker 'sales'" in refused(
        "train", "desk", "--examples", "b.jsonl"
    )
    (desk / "router.json").write_text(small_router().to_json()[:-50], encoding="utf-8")
    assert "team.yaml:2: 'router.json' is not a trained router" in refused("explain", "desk", "x")
    old = {**json.loads(small_router().to_json()), "version": 1}
    (desk / "router.json").write_text(json.dumps(old), encoding="utf-8")
    assert "reads version 2: train it again with `leadhand router train`" in refused(
        "explain", "desk", "x"
    )
    (desk / "router.json").unlink()
    assert "team.yaml:2: there is no file 'router.json': make it with" in refused(
        "explain", "desk", "x"
    )
    labels = ("billing", "sales", None)
    (desk / "router.json").write_text(small_router(labels=labels).to_json(), encoding="utf-8")
    assert "the trained router knows 'sales', who is not in the team" in refused(
        "explain", "desk", "x"
    )
    (desk / "router.json").write_text(small_router().to_json(), encoding="utf-8")
    front = (desk / "workers" / "billing.md").read_text(encoding="utf-8")
    (desk / "workers" / "legal.md").write_text(front, encoding="utf-8")
    checked = leadhand("teams", "check", "desk", folder=folder)
    assert "has no examples of 'legal', so never chooses it" in checked.out + checked.err
    (desk / "team.yaml").write_text("name: desk\n", encoding="utf-8")
    assert "team 'desk' has no router: add routes, a trained router or" in refused(
        "test", "desk", "--examples", "a.jsonl"
    )


def test_the_model_that_a_run_would_find_is_asked_by_explain_too(
    folder: Path, model_server: ScriptedServer
) -> None:
    """A team whose models are named by the environment, as on the command line."""
    chosen = {"why": "fun", "worker": "technical", "confidence": 90}
    model_server.configure(script=[{"match": {"role": "router"}, "reply": {"json": chosen}}])
    env = {**model_server.env(), "LEADHAND_MODEL": "openai-chat:scripted"}
    words = ("router", "explain", "desk", "Tell me a joke", "--ask-model")
    shown = leadhand(*words, folder=folder, env=env)
    assert shown.out.startswith("technical, by the model\n"), shown.err
    assert model_server.stats().by_role == {"router": 1}


def test_the_help_names_the_extra_that_training_needs(in_process: InProcess) -> None:
    assert 'pip install "leadhand[router]"' in " ".join(
        in_process("router", "train", "-h").out.split()
    )


def test_examples_are_collected_from_the_stored_runs_of_a_home(folder: Path) -> None:
    ended = router("examples", "--home", str(folder / "none"), folder=folder)
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == "leadhand: 0 examples in 0 runs\n"
