"""`leadhand review` with a ruff that does not know all rules of the lenses."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import HANG_S
from tests.repositories import Repo

RUFF = """\
#!{python} -IS
import os, sys
rules = sys.argv[sys.argv.index("--select") + 1].split(",") if "--select" in sys.argv else []
for rule in ("ASYNC212", "ASYNC250"):
    if rule in rules:
        sys.stderr.write({refusal!r}.replace("RULE", rule, 1))
        sys.exit(2)
os.execv({ruff!r}, sys.argv)
"""
REFUSALS = {
    "0.12.0": "error: invalid value 'RULE' for '--select <RULE_CODE>'\n",
    "0.17.6": "ruff failed\n  Cause: Unknown rule selector `RULE` in `select` from the CLI\n",
}
"""How these versions refuse one."""


def environment(folder: Path, refusal: str) -> Path:
    """The Python of this environment, copied by links, beside a program that refuses rules."""
    real = Path(sys.executable).parent
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.symlink_to(getattr(sys, "_base_executable", sys.executable))
    (folder / "lib").symlink_to(real.parent / "lib")
    shutil.copy(real.parent / "pyvenv.cfg", folder)
    old = folder / "bin" / "ruff"
    old.write_text(RUFF.format(python=sys.executable, refusal=refusal, ruff=str(real / "ruff")))
    old.chmod(0o755)
    return python


@pytest.mark.parametrize("version", REFUSALS)
def test_rules_that_the_installed_ruff_does_not_know_are_named_and_the_others_are_checked(
    tmp_path: Path, version: str
) -> None:
    repo = Repo(tmp_path / "code")
    repo.commits(("one", {"a.py": "x = 1\n"}), ("two", {"a.py": "x = 1\nprint(undefined)\n"}))
    python = environment(tmp_path / "older", REFUSALS[version])
    done = subprocess.run(
        [python, "-m", "leadhand", "review", "--json", "--quiet", "--home", tmp_path / "home"],
        cwd=tmp_path / "code",
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_S,
        env={**os.environ, "NO_COLOR": "1"},
    )
    answer = json.loads(done.stdout)
    assert answer["status"] == "complete", done.stderr
    (finding,) = answer["output"]["findings"]
    assert finding["rule"].startswith("bugs/")
    lost = {
        row["lens"]: row["why"]
        for row in answer["output"]["not_assessed"]
        if "installed ruff" in row["why"]
    }
    assert lost == {"performance": "the installed ruff does not know ASYNC212 and ASYNC250"}
