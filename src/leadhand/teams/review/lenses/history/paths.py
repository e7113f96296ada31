"""What the path of a file tells about its content. Pure."""

import re

_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|__tests__)/|(?:^|/)(?:test_|conftest)|[._](?:test|spec)\.\w+$"
)
_PROSE = (".md", ".rst", ".txt", ".po", ".lock", ".json", ".svg", ".csv", ".html", ".css", ".map")


def is_test(path: str) -> bool:
    """Whether the file at `path` holds tests."""
    return bool(_TEST_PATH.search(path))


def is_code(path: str) -> bool:
    """Whether the file at `path` is code that runs, not a test, prose, data or a lock file."""
    return not is_test(path) and not path.lower().endswith(_PROSE) and "." in path
