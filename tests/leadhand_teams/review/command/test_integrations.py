"""The GitHub Action and the pre-commit hook, run from this checkout as GitHub and git run them."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.leadhand_teams.review.command.github_server import EDIT, GitHub, github
from tests.patience import HANG_S
from tests.repositories import Repo, hermetic

ROOT = Path(__file__).parents[4]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
FILES = ("markdown", "json")
MARKER = "<!-- leadhand review -->"
BEGIN = "def run() -> None:\n    print(1)\n"
CARELESS = BEGIN.replace("1", "undefined")


class Done(NamedTuple):
    """What a step did."""

    status: int
    out: str
    outputs: dict[str, str]
    summary: str


@pytest.fixture
def hub() -> Iterator[GitHub]:
    with github() as server:
        yield server


@pytest.fixture
def pull(tmp_path: Path) -> Repo:
    """A checkout whose branch has one careless commit more than `main`."""
    made = Repo(tmp_path / "checkout")
    made.commit("Begin", {".leadhand.toml": 'lenses = ["bugs"]\n', "app.py": BEGIN})
    made.git("checkout", "-q", "-b", "topic")
    made.commit("Print more", {"app.py": CARELESS})
    return made


def event(repo: Repo) -> dict[str, object]:
    """GitHub's event for the pull request of `topic`."""
    base, head = repo.git("rev-parse", "main"), repo.git("rev-parse", "topic")
    return {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}}


def step(repo: Repo, hub: GitHub | None, given: object, **inputs: str) -> Done:
    """The review step of `action.yml` in the checkout, with the variables that the runner sets."""
    folder = repo.folder.parent / "runner"
    folder.mkdir(exist_ok=True)
    installed = folder / "leadhand"  # what the step before has made
    installed.unlink(missing_ok=True)
    installed.symlink_to(sys.prefix)
    for name in ("output", "summary"):
        (folder / name).write_text("", encoding="utf-8")
    (folder / "event.json").write_text(json.dumps(given), encoding="utf-8")
    [review] = [one for one in ACTION["runs"]["steps"] if one.get("id") == "review"]
    values = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs

    def value(match: re.Match[str]) -> str:
        given = values[match[1]]
        return ("a-token" if hub else "") if given == "${{ github.token }}" else given

    env = {
        **hermetic(),
        **{
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", value, text)
            for name, text in review["env"].items()
        },
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_API_URL": hub.url if hub else "http://127.0.0.1:9",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_REPOSITORY": "shop/orders",
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "LEADHAND_HOME": str(folder / "home"),
        "LEADHAND_MODEL": "openai:never-asked",
        "RUNNER_TEMP": str(folder),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", review["run"]],
        cwd=repo.folder, env=env, capture_output=True, encoding="utf-8", timeout=HANG_S,
    )  # fmt: skip
    assert done.stderr == ""
    lines = (folder / "output").read_text(encoding="utf-8").splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    summary = (folder / "summary").read_text(encoding="utf-8")
    return Done(done.returncode, done.stdout, outputs, summary)


def test_a_pull_request_gets_annotations_sarif_a_summary_and_one_comment_that_is_updated(
    pull: Repo, hub: GitHub
) -> None:
    hub.comments = dict.fromkeys(range(1, 120), "A remark") | {
        120: f"{MARKER}\nnot ours",
        121: f"Quoting {MARKER}",
    }
    hub.theirs = {120}
    done = step(pull, hub, event(pull), **{"fail-on": "warning"})
    assert done.status == 1
    assert "file=app.py,line=2" in done.out
    assert "bugs/undefined-name" in done.summary
    log = json.loads(Path(done.outputs["sarif"]).read_text(encoding="utf-8"))
    assert "bugs/undefined-name" in [one["ruleId"] for one in log["runs"][0]["results"]]
    assert log["runs"][0]["properties"]["engine"] == "deterministic"
    assert hub.comments[122].startswith(MARKER)
    assert "bugs/undefined-name" in hub.comments[122]
    assert {token for _, _, token in hub.requests} == {"Bearer a-token"}

    pull.commit("Print less", {"app.py": BEGIN.replace("1", "2")})
    asked = len(hub.requests)
    assert step(pull, hub, event(pull)).status == 0
    assert ("PATCH", f"{EDIT}122", "Bearer a-token") in hub.requests[asked:]
    assert "No rule matched" in hub.comments[122]
    assert len(hub.comments) == 122
    assert hub.comments[121] == f"Quoting {MARKER}"


def test_a_clean_pull_request_gets_no_comment(pull: Repo, hub: GitHub) -> None:
    pull.commit("Print less", {"app.py": BEGIN.replace("1", "2")})
    assert step(pull, hub, event(pull)).status == 0
    assert hub.comments == {}


def test_a_pull_request_that_switches_its_review_off_gets_a_comment(
    pull: Repo, hub: GitHub
) -> None:
    pull.write("app.py", BEGIN.replace("1", "2"))
    pull.write(".leadhand.toml", 'exclude = ["*.py"]\n')
    pull.commit("Print less")
    done = step(pull, hub, event(pull))
    assert "::warning file=.leadhand.toml" in done.out
    [text] = hub.comments.values()
    assert "edits the settings of its own review" in text


def test_without_a_token_the_review_stands(pull: Repo) -> None:
    done = step(pull, None, event(pull), **{"fail-on": "warning"})
    assert done.status == 1
    assert "::notice title=leadhand::no comment: there is no token" in done.out
    assert "sarif" in done.outputs


def test_what_github_refuses_or_answers_oddly_costs_only_the_comment(
    pull: Repo, hub: GitHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The token may only read, or would follow a redirect, or there is no list of comments."""
    hub.read_only = True
    done = step(pull, hub, event(pull), **{"fail-on": "never"})
    assert done.status == 0
    assert "::notice title=leadhand::no comment: HTTP Error 403" in done.out

    # The same comment again, without another review.
    comment = runpy.run_path(str(ROOT / "action" / "review.py"))["comment"]
    text, document = (pull.folder.parent / f"runner/leadhand-review.{kind}" for kind in FILES)
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    monkeypatch.setenv("GITHUB_REPOSITORY", "shop/orders")
    monkeypatch.setenv("GITHUB_TOKEN", "a-token")
    asked = len(hub.requests)
    with github() as other:
        hub.location = f"{other.url}/evil"
        comment(event(pull), text, json.loads(document.read_text(encoding="utf-8")))
        assert other.requests == []
    hub.location = ""
    hub.listing = [{"id": 1, "body": 5}]
    comment(event(pull), text, json.loads(document.read_text(encoding="utf-8")))
    assert len(hub.requests) == asked + 2
    redirected, odd = capsys.readouterr().out.splitlines()
    assert redirected.startswith("::notice title=leadhand::no comment: HTTP Error 302")
    assert odd.endswith("no comment: the answer of GitHub's API is no list of comments")


def test_inputs_become_options_and_a_push_has_no_comment(pull: Repo, hub: GitHub) -> None:
    base, head = pull.git("rev-parse", "main"), pull.git("rev-parse", "topic")
    pushed = {"before": base, "after": head}
    done = step(pull, hub, pushed, threshold="100", **{"fail-on": "info"})
    assert done.status == 0
    assert "No findings; 1 needs a look" in done.summary
    done = step(pull, hub, event(pull), comment="false")
    assert "bugs/undefined-name" in done.summary
    assert hub.requests == []
    done = step(pull, hub, {"before": "0" * 40, "after": head}, **{"fail-on": "sometimes"})
    assert done.status == 2
    assert "| " in done.out
    assert done.outputs == {}


def test_a_shallow_checkout_is_deepened_before_the_review(
    pull: Repo, hub: GitHub, tmp_path: Path
) -> None:
    pull.git("config", "uploadpack.allowAnySHA1InWant", "true")
    shallow = Repo(tmp_path / "shallow")
    shallow.git("remote", "add", "origin", f"file://{pull.folder}")
    shallow.git("fetch", "-q", "--depth=1", "origin", "topic")
    shallow.git("checkout", "-q", "FETCH_HEAD")
    done = step(shallow, hub, event(pull))
    assert "bugs/undefined-name" in done.summary
    assert list(hub.comments) == [101]


def test_nothing_of_the_checkout_is_imported(pull: Repo, hub: GitHub) -> None:
    for name in ("json.py", "leadhand/__init__.py", "sitecustomize.py", "typing.py"):
        pull.write(name, "raise SystemExit('imported from the checkout')\n")
    done = step(pull, hub, event(pull))
    assert "bugs/undefined-name" in done.summary
    assert "imported from" not in done.out


def test_the_steps_before_the_review_use_the_actions_own_checkout() -> None:
    python, install, _ = ACTION["runs"]["steps"]
    assert python["uses"].startswith("actions/setup-python@")
    assert install["working-directory"] == "${{ github.action_path }}"
    assert (
        install["run"]
        .split("\n")[1]
        .endswith("-m pip install --quiet --disable-pip-version-check .")
    )


def test_a_bad_commit_is_stopped_by_the_hook_and_a_good_one_passes(pull: Repo) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *options = shlex.split(hook["entry"])
    entry = shlex.join([sys.executable, "-P", "-m", program, *options, "--fail-on", "warning"])
    home = pull.folder.parent / "home"
    script = pull.write(".git/hooks/pre-commit", f"#!/bin/sh\nLEADHAND_HOME={home} exec {entry}\n")
    script.chmod(0o755)
    pull.write("app.py", CARELESS.replace("undefined", "unknown"))
    pull.git("add", "app.py")
    pull.write("app.py", BEGIN)  # what is not staged does not count
    said = subprocess.run(
        ["git", "commit", "-q", "-m", "Print more"],
        cwd=pull.folder, env=hermetic(), capture_output=True, encoding="utf-8", timeout=HANG_S,
    )  # fmt: skip
    assert said.returncode == 1
    assert "bugs/undefined-name" in said.stderr + said.stdout
    assert pull.git("log", "-1", "--format=%s") == "Print more"
    assert pull.git("rev-list", "--count", "HEAD") == "2"
    pull.git("commit", "-q", "-m", "Print one", "app.py")
    assert pull.git("rev-list", "--count", "HEAD") == "3"


def test_the_sample_of_make_review_shows_its_three_planted_bugs(tmp_path: Path) -> None:
    script = [
        str(ROOT / ".ci" / "sample" / "review"),
        str(Path(sys.executable).parent / "leadhand"),
    ]
    env = {**hermetic(), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        script, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "a made-up\nshop, and a change with three planted bugs." in done.stdout
    assert "3 findings: 3 critical." in done.stdout
    assert list(tmp_path.iterdir()) == []
