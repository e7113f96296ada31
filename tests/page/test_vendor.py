"""The libraries of the page are those that `.ci/vendor` made, with their licences."""

import hashlib
import re
from pathlib import Path

import pytest

from leadhand.page import STATIC

AXE = Path(__file__).parent / "vendor"


@pytest.mark.parametrize("folder", [STATIC / "vendor", AXE], ids=["page", "tests"])
def test_every_vendored_file_has_its_checksum(folder: Path) -> None:
    sums = {
        name: digest
        for digest, name in (
            line.split()
            for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
        )
    }
    there = {file.name for file in folder.iterdir()} - {"SHA256SUMS"}
    assert there == {*sums}
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_every_library_of_the_page_has_its_licence() -> None:
    text = (STATIC / "vendor" / "LICENSES.txt").read_text(encoding="utf-8")
    named = re.findall(r"^=== (\S+) [\d.]+$", text, re.MULTILINE)
    assert named == ["preact", "htm", "@preact/signals", "lucide-static"]


def test_what_the_page_loads_needs_neither_eval_nor_another_host() -> None:
    for file in STATIC.rglob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\beval\(|new Function|import\(['\"]http", text), file.name


def test_f32_markup_enters_the_page_in_one_place() -> None:
    """It is Markdown that the service has cleaned; everything else is text."""
    enters = re.compile(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML)\b")
    ours = [*STATIC.glob("*.js"), *STATIC.glob("views/*.js"), *STATIC.glob("graph/*.js")]
    found = [(file.name, line) for file in ours for line in enters.findall(file.read_text("utf-8"))]
    assert found == [("answer.js", "innerHTML")]


def test_every_icon_that_is_named_is_there() -> None:
    """An unknown name would be drawn as a circle."""
    known = set(
        re.findall(r'^  "([\w-]+)":', (STATIC / "vendor/icons.js").read_text("utf-8"), re.MULTILINE)
    )
    for file in [*STATIC.glob("*.js"), *STATIC.glob("*/*.js")]:
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r'\b(?:icon|<\$\{Icon\} name)[=:] ?"([a-z-]+)"', text):
            assert name in known, f"{file.name}: {name}"
