"""The rules of CONTRIBUTING that no linter knows: import weight, file lengths, the map, purity."""

import ast
import functools
import importlib
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import pytest

from leadhand import Handoff, Permanent, Supervisor, TaskTemplate, Team, Worker

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "leadhand"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
PURE = [
    file
    for contract in CONTRACTS
    if contract["name"].startswith("Pure modules")
    for module in contract["source_modules"]
    for path in [ROOT / "src" / module.replace(".", "/")]
    for file in ([*path.rglob("*.py")] or [path.with_suffix(".py")])
]
TEAM_SOURCE = ROOT / "src" / "leadhand_teams"
SOURCES = [*sorted(SOURCE.rglob("*.py")), *sorted(TEAM_SOURCE.rglob("*.py"))]
TEAMS = sorted(file.parent.name for file in TEAM_SOURCE.glob("*/team.yaml"))
LONGEST = 400


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def definitions(file: Path) -> tuple[list[str], dict[str, bool]]:
    """Its public classes; its functions of more than sixty lines, and whether they say why."""
    tree, lines = tree_of(file), file.read_text(encoding="utf-8").splitlines()
    classes = [one.name for one in tree.body if isinstance(one, ast.ClassDef)]
    long: dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if (node.end_lineno or first) - node.lineno >= 60:
                says_why = lines[first - 2].lstrip().startswith("# Long because ")
                long[node.name] = says_why and long.get(node.name, True)
    return [name for name in classes if not name.startswith("_")], long


WITHOUT_MODELS = """
import asyncio
from leadhand.contracts.team import Team
from leadhand.models.choice import choose
from leadhand.planners.template import TemplatePlanner
from leadhand.synthesis.merge import Merge, combine
from leadhand.synthesis.findings import Review
team = Team("t", workers=())
for environ in ({}, {"OPENAI_API_KEY": "k"}, {"LEADHAND_MODEL": "openai:x"}):
    asyncio.run(choose(team, model=None, no_model=False, environ=environ, servers=()))
"""
"""What has to start fast: choosing models, and planning and synthesis by code."""


@functools.cache
def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has after `code`."""
    script = f"import sys\ntry:\n{textwrap.indent(code, '    ')}\nexcept SystemExit:\n    pass\n"
    script += "sys.stderr.write('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_import_leadhand_loads_no_heavy_module() -> None:
    loaded = loaded_by("import leadhand")
    assert "leadhand" in loaded
    assert loaded.isdisjoint({"pydantic", "rich", "typer", "yaml", "asyncio", "unidiff"})


def test_the_supervisor_loads_what_runs_with_its_first_run() -> None:
    loaded = loaded_by("import leadhand; leadhand.Supervisor")
    assert "leadhand.supervisor" in loaded
    heavy = {
        "contracts.events",
        "engine",
        "policies",
        "run.roles",
        "run.run",
        "redaction.redactor",
    }
    assert loaded.isdisjoint(f"leadhand.{name}" for name in heavy)
    assert loaded.isdisjoint({"pydantic_ai", "rapidfuzz", "rich", "sqlite3", "typer", "yaml"})


def test_help_loads_neither_the_contracts_nor_anything_that_runs() -> None:
    loaded = loaded_by("from leadhand.cli import main; sys.argv = ['leadhand', '--help']; main()")
    assert "leadhand.cli.app" in loaded
    assert loaded.isdisjoint({"pydantic", "yaml", "unidiff", "rapidfuzz", "leadhand.contracts"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one run in it."""

    def answer(handoff: Handoff) -> str:
        return handoff.intent

    team = Team("desk", workers=(Worker("clerk", "answers", run=answer),))
    Supervisor(team, home=tmp_path).run_sync("anything")
    return tmp_path


def test_a_list_of_runs_is_read_without_events_and_without_what_writes_them(home: Path) -> None:
    words = ["leadhand", "runs", "--home", str(home)]
    loaded = loaded_by(f"from leadhand.cli import main; sys.argv = {words}; main()")
    assert "leadhand.journal.sqlite" in loaded
    assert loaded.isdisjoint({"leadhand.contracts.events", "leadhand.redaction.redactor"})
    assert loaded.isdisjoint({"asyncio", "pydantic_ai", "rich"})


FIRST_LINE = """
import os
from leadhand.cli import main
class Stream:
    encoding = "utf-8"
    def write(self, text):
        os.write(2, "\\n".join([text, *sys.modules]).encode())
        os._exit(0)
    def flush(self):
        pass
sys.stderr = Stream()
sys.argv = ["leadhand", *{words}, "--home", {home!r}]
main()
"""
"""Runs a command up to what it first says on stderr."""


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("run", "x", "--team", "research"), "loading team research"),
        (("review", "--repo", str(ROOT)), "reading the last commit"),
        (("review", "--diff", str(ROOT / "README.md")), f"reading {ROOT / 'README.md'}"),
        (("resume", "last"), "reading run-"),
        (("answer", "last"), "reading run-"),
        (("cancel", "last"), "reading run-"),
    ],
    ids=["run", "review", "diff", "resume", "answer", "cancel"],
)
def test_a_command_shows_its_first_line_before_it_loads_what_runs(
    words: Sequence[str], first: str, home: Path
) -> None:
    loaded = loaded_by(FIRST_LINE.format(words=words, home=str(home)))
    assert first.split()[-1] in loaded or any(one.startswith("run-") for one in loaded)
    heavy = {"asyncio", "pydantic_ai", "rich", "yaml", "leadhand.supervisor"}
    assert loaded.isdisjoint(heavy | {"leadhand.contracts.events"})


def test_ports_are_protocols_only() -> None:
    classes = [node for node in tree_of(SOURCE / "ports.py").body if isinstance(node, ast.ClassDef)]
    assert len(classes) > 5
    assert {ast.unparse(node.bases[-1]) for node in classes} == {"Protocol"}


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks"])
def test_no_file_is_longer_than_a_reader_can_hold(folder: str) -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for file in (ROOT / folder).rglob("*.py")
    }
    too_long = {name: lines for name, lines in lengths.items() if lines > LONGEST}
    assert lengths
    assert too_long == {}


def test_a_function_of_more_than_sixty_lines_says_why() -> None:
    says_why = {(file, name): why for file in SOURCES for name, why in definitions(file)[1].items()}
    assert [f"{file.name}: {name}" for (file, name), why in says_why.items() if not why] == []
    assert says_why


def test_no_two_public_classes_share_a_name() -> None:
    found: dict[str, list[str]] = {}
    for file in SOURCES:
        for name in definitions(file)[0]:
            found.setdefault(name, []).append(file.name)
    assert len(found) > 500
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


@pytest.mark.parametrize("file", PURE, ids=lambda file: str(file.relative_to(SOURCE)))
def test_the_pure_floor_asks_no_clock(file: Path) -> None:
    calls = [
        node.func.attr
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    assert not {"now", "utcnow", "today"} & set(calls)


def test_the_map_of_the_packages_is_that_of_the_import_contract() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"^    (\w+)  +\S", text, re.MULTILINE)
    there = {path.stem for path in SOURCE.iterdir() if re.fullmatch(r"[a-z]+(\.py)?", path.name)}
    assert {*named} == there
    rank = {
        name: place
        for place, layer in enumerate(CONTRACTS[0]["layers"])
        for name in layer.split(" | ")
    }
    assert [rank[name] for name in named] == sorted(rank[name] for name in named)


def test_what_the_map_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", text)
    assert len(paths) > 5
    assert [
        path for path in paths if not any((base / path).exists() for base in (SOURCE, ROOT))
    ] == []


def test_a_request_goes_the_way_that_contributing_draws() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (\S+\.py)  +([\w.]+)  +(\S.*)$", text, re.MULTILINE)
    drawn = [(file, name) for file, name, _ in lines]
    beside = re.findall(r"\w+/(?:\w+\.py)?", " ".join(does for _, _, does in lines))
    called: dict[tuple[str, str], None] = {}

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)):
            file = Path(code.co_filename).relative_to(SOURCE).as_posix()
            called.setdefault((file, code.co_qualname))

    def answer(handoff: Handoff) -> str:
        return handoff.intent

    def fail(handoff: Handoff) -> str:
        raise Permanent(handoff.intent)

    template = [TaskTemplate("a", "clerk", "{request}"), TaskTemplate("b", "odd", "", ["a"])]
    workers = [Worker("clerk", "answers", run=answer), Worker("odd", "fails", run=fail)]
    supervisor = Supervisor(Team("desk", workers=workers, template=template))
    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        supervisor.run_sync("anything")
    finally:
        sys.setprofile(before)
    assert len(drawn) == 12
    assert [path for path in beside if not (SOURCE / path).exists()] == []
    assert [one for one in called if one in drawn] == drawn


def test_leadhand_names_no_ready_made_team_in_its_command_line() -> None:
    named = [
        f"{file.relative_to(SOURCE)}:{node.lineno}: {node.value}"
        for file in (SOURCE / "cli").rglob("*.py")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in TEAMS or re.search(rf"leadhand_teams|team ({'|'.join(TEAMS)})", node.value)
    ]
    assert {*TEAMS} >= {"research", "review"}
    assert named == []


def test_ready_made_teams_import_only_names_that_are_public() -> None:
    imported = {
        (node.module, alias.name)
        for file in TEAM_SOURCE.rglob("*.py")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        if node.module.split(".")[0] == "leadhand"
        for alias in node.names
    }
    assert imported
    for module, name in imported - {("leadhand", "__version__")}:
        public = getattr(importlib.import_module(module), "__all__", None)
        assert name in public if public is not None else name[0] != "_", f"{module}.{name}"


def test_the_core_does_not_grow_unnoticed() -> None:
    """A change that adds lines raises this number by hand, in the open."""
    files = SOURCE.rglob("*.py")
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert lines <= 65_113
