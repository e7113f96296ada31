"""What a change keeps in another place or form must not alarm; what it loses must."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from leadhand.contracts.answer import Finding
from leadhand.supervisor import Supervisor
from leadhand.synthesis.findings import Review
from leadhand_teams.review.change import Change
from leadhand_teams.review.rules import rules
from leadhand_teams.review.snapshot import write_snapshot
from leadhand_teams.review.synthesizer import FindingsSynthesizer
from leadhand_teams.review.team import review_team, template_batches
from tests.repositories import Repo


class Case(BaseModel):
    """A change in a small repository."""

    what: str
    files: dict[str, str]
    alarm: str = ""
    """The rules of which one has to speak, if any."""


_FILE = Path(__file__).with_name("no_alarm.yaml")
CASES = {
    case.what: case
    for case in TypeAdapter(list[Case]).validate_python(yaml.safe_load(_FILE.read_text("utf-8")))
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the commits `before-N` and `after-N` for the nth case."""
    repo = Repo(tmp_path_factory.mktemp("cases"))
    stream = list[str]()
    for number, case in enumerate(CASES.values()):
        for name, sign in (("before", "-"), ("after", "+")):
            stream.append(f"commit refs/heads/{name}-{number}")
            stream.append("committer a <a@example.com> 0 +0000\ndata 0")
            if name == "after":
                stream.append(f"from refs/heads/before-{number}")
            for path, marked in case.files.items():
                lines = (line for line in marked.split("\n")[:-1] if line[:1] in ("", " ", sign))
                text = "".join(f"{line[1:]}\n" for line in lines)
                stream.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}")
    repo.git("fast-import", "--quiet", given="\n".join(stream).encode())
    return repo.folder


def reviewed(change: Change) -> Review:
    """The review of the whole team, in this process."""
    team = review_team(change)
    workers = tuple(dataclasses.replace(one, isolate="none") for one in team.workers)
    supervisor = Supervisor(
        dataclasses.replace(team, workers=workers), synthesizer=FindingsSynthesizer(change)
    )
    answer = asyncio.run(supervisor.run("Review it", batches=template_batches(change)))
    return Review.model_validate(answer.output)


def review(folder: Path, repo: Path, revision: str) -> list[Finding]:
    """What the whole team says of removals, wherever in the review."""
    found = reviewed(write_snapshot(folder / "change", repo=repo, revision=revision))
    removals = {rule.id for rule in rules() if rule.removal}
    every = (*found.findings, *found.look, *found.suppressed)
    return [one for one in every if one.rule in removals]


@pytest.mark.parametrize("what", CASES)
def test_only_what_is_lost_alarms(cases: Path, tmp_path: Path, what: str) -> None:
    number = list(CASES).index(what)
    found = review(tmp_path, cases, f"before-{number}..after-{number}")
    alarms = {one.rule.removeprefix("security/") for one in found}
    expected = set(CASES[what].alarm.split())
    assert bool(alarms & expected) if expected else not alarms, found


LOST = {
    "a setting": ("class View{n}(View):\n    permission_classes = [Rule{n}]\n    rows = {n}\n", 1),
    "a base": ("class View{n}(LoginRequiredMixin, Base{n}):\n    rows = {n}\n", 0),
    "a decorator": ("@login_required\ndef view{n}(request):\n    return show({n})\n", 0),
}
"""The code before, and the index of the line that is lost in part or whole."""


@pytest.mark.parametrize("what", LOST)
@pytest.mark.parametrize("per_file", [1, 24])
def test_the_same_removal_in_24_classes_is_one_item(
    tmp_path: Path, what: str, per_file: int
) -> None:
    before, index = LOST[what]
    lines = before.splitlines(keepends=True)
    line = lines[index].replace("LoginRequiredMixin, ", "")
    lines[index : index + 1] = [line] if line != lines[index] else []
    repo = Repo(tmp_path / "repo")
    for files in (before, "".join(lines)):
        for first in range(0, 24, per_file):
            texts = [files.format(n=n) for n in range(first, first + per_file)]
            repo.write(f"a{first}.py", "\n\n".join(texts))
        repo.commit("change")
    [finding] = review(tmp_path, repo.folder, "HEAD")
    assert "23 other" in finding.message or len(finding.places) == 23
