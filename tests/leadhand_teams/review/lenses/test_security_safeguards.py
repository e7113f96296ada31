"""The security lens: safeguards that a change removes, replaces or only moves."""

from pathlib import Path

import pytest

from tests.leadhand_teams.review.lenses.security_reports import look

VIEW = """\
from app import db, locks, http, login_required, PermissionDenied

@login_required
def remove(request, name, token):
    if not request.user.is_owner(name):
        raise PermissionDenied(name)
    if len(name) > 80:
        raise ValueError("too long")
    verify_token(token)
    title = escape(name)
    with lock:
        db.remove(name)
    http.post("/gone", data=title, timeout=5)
    log(token)
    return title
"""

REMOVED = {
    "a permission check": (
        "removed-access-guard",
        "    if not request.user.is_owner(name):\n        raise PermissionDenied(name)\n",
        "",
    ),
    "another check": (
        "removed-guard",
        '    if len(name) > 80:\n        raise ValueError("too long")\n',
        "",
    ),
    "a verification": ("removed-call", "    verify_token(token)\n", ""),
    "an escape": ("removed-call", "escape(name)", "name"),
    "a time limit": ("removed-limit", ", timeout=5", ""),
    "a decorator": ("removed-decorator", "@login_required\n", ""),
}

REPLACED = {
    "a check with other words": ("len(name) > 80", "len(name.strip()) > 80"),
    "another exception": ("PermissionDenied(name)", "Forbidden(name)"),
    "an exception of a protocol": ("PermissionDenied(name)", "AttributeError(name)"),
    "another decorator": ("@login_required\n", "@permission_required('remove')\n"),
    "another verification": ("verify_token(token)", "check_token(token)"),
    "another escape": ("escape(name)", "conditional_escape(name)"),
    "another limit": ("timeout=5", "timeout=LIMIT"),
}


@pytest.mark.parametrize("what", REMOVED)
def test_a_removed_safeguard_is_reported(tmp_path: Path, what: str) -> None:
    rule, old, new = REMOVED[what]
    report = look(tmp_path, {"view.py": VIEW.replace(old, new)}, {"view.py": VIEW})
    [finding] = report.findings
    assert finding.rule == f"security/{rule}"
    assert "remove" in finding.message
    assert finding.evidence in VIEW


@pytest.mark.parametrize("what", REPLACED)
def test_a_replaced_safeguard_is_not_reported(tmp_path: Path, what: str) -> None:
    report = look(tmp_path, {"view.py": VIEW.replace(*REPLACED[what])}, {"view.py": VIEW})
    assert report.findings == ()


def test_a_check_moved_to_a_helper_in_another_file_is_not_missed(tmp_path: Path) -> None:
    check = '    if len(name) > 80:\n        raise ValueError("too long")\n'
    moved = VIEW.replace(check, "    limit(name)\n")
    helper = f"def limit(name):\n{check}"
    assert look(tmp_path, {"view.py": moved, "h.py": helper}, {"view.py": VIEW}).findings == ()


def test_the_safeguards_of_a_removed_function_are_not_missed(tmp_path: Path) -> None:
    kept = "from app import db\n\ndef other():\n    return 1\n"
    assert look(tmp_path, {"view.py": kept}, {"view.py": VIEW}).findings == ()


def test_a_check_of_a_removed_value_is_not_missed(tmp_path: Path) -> None:
    check = "    if b < 0:\n        raise ValueError('b')\n"
    old = f"def f(a, b):\n    x = a + 1\n{check}    y = x * 2\n    return y\n"
    new = "def f(a):\n    x = a + 1\n    y = x * 2\n    return y\n"
    assert look(tmp_path, {"a.py": new}, {"a.py": old}).findings == ()


def test_an_implemented_feature_no_longer_raises_not_implemented(tmp_path: Path) -> None:
    check = "    if x < 0:\n        raise NotImplementedError\n"
    old = f"def f(a):\n    x = a\n{check}    y = x\n    return y\n"
    new = "def f(a):\n    x = a\n    y = x\n    return y\n"
    assert look(tmp_path, {"a.py": new}, {"a.py": old}).findings == ()


def test_the_guards_of_a_class_count_too(tmp_path: Path) -> None:
    old = (
        "class Page(LoginRequiredMixin, View):\n    permission_classes = [IsAdmin]\n"
        "    def get(self, request):\n        return 1\n"
    )
    new = "class Page(View):\n    def get(self, request):\n        return 1\n"
    report = look(tmp_path, {"a.py": new}, {"a.py": old})
    [finding] = report.findings
    assert finding.rule == "security/removed-decorator"
    assert "The same holds for 1 more line there." in finding.message
