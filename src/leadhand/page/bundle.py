"""The page's modules as one script, for a file that loads nothing. No compiler: our own modules
import and export in plain lines, as the vendored ones do at their ends."""

import re
from collections.abc import Iterator
from pathlib import Path

from leadhand.page import STATIC

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
_LIST = re.compile(r"\bexport ?\{([^}]*)\};?\s*\Z")
_DECLARED = re.compile(r"^export ((?:async )?function\*? |const |class )(\w+)", re.MULTILINE)


def script(entry: str) -> str:
    """The module `entry` of the static files and all that it imports, each in a scope of its own.

    Raises `ValueError` if modules import each other in a circle.
    """
    order: dict[Path, str] = {}
    _add(STATIC / entry, order, ())
    return "".join(
        f"const {name} = (() => {{\n{_scoped(file, order)}}})();\n" for file, name in order.items()
    )


def _add(file: Path, order: dict[Path, str], within: tuple[Path, ...]) -> None:
    if file in within:
        raise ValueError(f"{file.name} imports itself, by {within[-1].name}")
    if file in order:
        return
    for imported in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        _add((file.parent / imported[2]).resolve(), order, (*within, file))
    order[file] = f"$module{len(order)}"


def _scoped(file: Path, names: dict[Path, str]) -> str:
    text = file.read_text(encoding="utf-8")

    def imported(found: re.Match[str]) -> str:
        module = names[(file.parent / found[2]).resolve()]
        return f"const {{ {_pairs(found[1], ': ')} }} = {module};\n" if found[1] else ""

    exports = [f"{name}" for _, name in _DECLARED.findall(text)]
    for listed in _LIST.findall(text):
        exports += [_exported(pair) for pair in _split(listed)]
    body = _LIST.sub("", _DECLARED.sub(r"\1\2", _IMPORT.sub(imported, text)))
    return f"{body}\nreturn {{ {', '.join(exports)} }};\n"


def _split(listed: str) -> Iterator[str]:
    yield from (pair.strip() for pair in listed.split(",") if pair.strip())


def _pairs(listed: str, sign: str) -> str:
    return ", ".join(sign.join(pair.split(" as ")) for pair in _split(listed))


def _exported(pair: str) -> str:
    inner, _, outer = pair.partition(" as ")
    return f"{outer or inner}: {inner}"
