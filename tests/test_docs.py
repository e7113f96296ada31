"""The how-to pages work as they stand: files, programs with what they print, and commands.

A block `python file=NAME` is saved; any other `python` block is run, and prints what the `text`
block right after it says. Commands in `sh` blocks are run, all in one folder, in the page's order.
"""

import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.patience import HANG_S
from tests.programs import forkserver

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: file=(?P<file>\S+))?(?: needs=(?P<needs>\S+))?\n(?P<text>.*?)^```$"
    r"(?:\n+```text\n(?P<out>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A piece of code on a page."""

    language: str
    file: str | None
    needs: str | None
    """A module of an extra that is not installed for `make test`, only for `make test-all`."""
    text: str
    out: str | None
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = [(one, text.count("\n", 0, one.start()) + 1) for one in _BLOCK.finditer(text)]
    return [
        Block(*one.group("language", "file", "needs", "text", "out"), line=line)
        for one, line in found
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_page_works(page: Path, tmp_path: Path) -> None:
    env = {**os.environ, "NO_COLOR": "1", "LEADHAND_HOME": str(tmp_path / ".home")}
    for block in blocks(page):
        if block.needs is not None and find_spec(block.needs) is None:
            assert "LEADHAND_TEST_ALL" not in os.environ
            continue
        if block.file is not None:
            file = tmp_path / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            ran = forkserver().run("-W", "error", "-c", block.text, folder=tmp_path, env=env)
            assert ran.status == 0, ran.err
            assert ran.out == (block.out or ""), block.text
        elif block.language == "sh":
            for command in block.text.splitlines():
                done = subprocess.run(
                    ["sh", "-ec", command],
                    cwd=tmp_path,
                    env=forkserver().shell_env(env),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=HANG_S,
                )
                assert done.returncode == 0, f"{command}: {done.stderr}"
                assert done.stdout, command


def title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


PATH = sorted(
    (page for page in PAGES if title(page)[0].isdigit()),
    key=lambda page: int(title(page).split(".")[0]),
)


def test_the_pages_are_a_path_for_newcomers() -> None:
    """Numbered without gaps; each says in its first paragraph which page is next."""
    assert {page.name for page in PAGES} - {page.name for page in PATH} == {"glossary.md"}
    assert [title(page).split(".")[0] for page in PATH] == [str(n + 1) for n in range(len(PATH))]
    for page, after in zip(PATH, [*PATH[1:], DOCS / "glossary.md"], strict=True):
        first = page.read_text(encoding="utf-8").split("\n\n")[1]
        assert " ".join(first.split()).endswith(f"Next: [{title(after)}]({after.name}).")


def test_the_readme_lists_the_path() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. \[.+?\]\(docs/(.+?)\)", readme, re.MULTILINE)
    assert listed == [page.name for page in PATH]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    prose = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize(
    "page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for name, _, anchor in (link.partition("#") for link in links):
        target = page.parent / name if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"
