"""Users' code passes strict type checks: the examples of README and docs, and the promised names.

`promises.py` has a line for each promise; a line that must be an error says so in a comment, and
both checkers report a comment without an error. Each of them runs once for everything: it is slow.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.test_docs import PAGES, ROOT, blocks

HERE = Path(__file__).parent
CACHE = ROOT / ".mypy_cache"
STRICT = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "enableTypeIgnoreComments": False,  # those are for mypy
    "reportUnnecessaryTypeIgnoreComment": "error",
}
UNSEEN = (
    "aiohttp anthropic beartype charset_normalizer fastmcp griffe idna mcp mcp_types openai "
    "pydantic_ai.capabilities pydantic_ai.realtime"
)
"""What takes mypy most of its time, and of which users of leadhand see no types."""
MYPY = f"""
[mypy]
strict = True
[mypy-{",".join(f"{one}.*" for one in UNSEEN.split())}]
follow_imports = skip
"""


def written(made: Path) -> Path:
    """All code in that folder, each block a module of its own, named for its page and line."""
    for page in (ROOT / "README.md", *PAGES):
        every = (block for block in blocks(page) if block.language == "python")
        # Of an extra's package the types are not complete: installed or not, it is not checked.
        # `leadhand.extension` is provisional: what it passes on has no public types yet.
        python = [
            one
            for one in every
            if one.needs is None and not (one.file or "").startswith("acme_audit/")
        ]
        files = [block.file for block in python if block.file is not None]
        stem = page.stem.replace("-", "_")
        for block in python:
            text = block.text
            for file in files:  # pages may have files of the same name
                parts = file.removesuffix(".py").split("/")
                module = rf"(?m)^( *)(from|import) {re.escape('.'.join(parts))}\b"
                text = re.sub(module, rf"\1\2 {stem}_{'_'.join(parts)}", text)
            name = (block.file or f"line_{block.line}.py").replace("/", "_")
            (made / f"{stem}_{name}").write_text(text, encoding="utf-8")
    for file in HERE.glob("promises*.py"):
        shutil.copy(file, made)
    (made / "pyrightconfig.json").write_text(json.dumps(STRICT), encoding="utf-8")
    (made / "mypy.ini").write_text(MYPY, encoding="utf-8")
    return made


def complaints(folder: Path, *command: str) -> str:
    """What a checker prints about the folder; empty if nothing is wrong."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True
    )
    return done.stdout + done.stderr if done.returncode else ""


def test_pyright_finds_nothing_wrong(tmp_path: Path) -> None:
    found = complaints(written(tmp_path), "basedpyright", "--pythonpath", sys.executable, ".")
    assert found == ""


def test_mypy_finds_nothing_wrong() -> None:
    """In the same folder each time: so mypy knows again what has not changed."""
    shutil.rmtree(CACHE / "typed", ignore_errors=True)
    (CACHE / "typed").mkdir(parents=True)
    assert complaints(written(CACHE / "typed"), "mypy", f"--cache-dir={CACHE}", ".") == ""
