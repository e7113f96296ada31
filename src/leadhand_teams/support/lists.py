"""Makes runbooks of Markdown lists, as teams write them in their wikis.

    python -m leadhand_teams.support.lists FILE.md > runbook.yaml

An item that ends in `?` is a question, and the items below it are its branches, with the words that
lead there in brackets: `docs/teams/support.md`.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from leadhand_teams.support.runbooks import Runbook, RunbookNode, placed, to_yaml
from leadhand_teams.support.words import content, pattern


class _Item(NamedTuple):
    text: str
    below: Sequence["_Item"] = ()


def runbooks_of(markdown: str, ref: str) -> tuple[Runbook, ...]:
    """A runbook for each heading of level 1 that has a list."""
    found: list[tuple[str, list[_Item]]] = []
    is_pitfalls = False
    for node in SyntaxTreeNode(MarkdownIt("commonmark").parse(markdown)).children:
        items = [*_items(node)]
        if node.type == "heading":
            title = node.children[0].content.strip()
            is_pitfalls = pattern("list_pitfalls").search(title) is not None
            found += [(title, [])] if node.tag == "h1" else []
        elif found:
            found[-1][1].extend([_Item("Pitfalls", items)] if is_pitfalls else items)
    made = [_Making(title).runbook(items) for title, items in found]
    return placed([one for one in made if one.nodes["start"] != RunbookNode()], ref)


def _items(node: SyntaxTreeNode) -> Iterator[_Item]:
    """The items of a list; of a paragraph the lines that name something."""
    if node.type == "paragraph":
        lines = map(str.strip, node.children[0].content.splitlines())
        yield from (_Item(line) for line in lines if pattern("list_key").match(line))
    for item in node.children if node.type.endswith("_list") else ():
        texts = [one.children[0].content for one in item.children if one.type == "paragraph"]
        lists = [one for one in item.children if one.type.endswith("_list")]
        below = [two for one in lists for two in _items(one)]
        yield _Item(" ".join(" ".join(texts).split()), below)


class _Making:
    """A runbook in the making."""

    def __init__(self, title: str) -> None:
        self._facts = {"title": title}
        self._nodes: dict[str, dict[str, object]] = {}
        self._pitfalls: list[str] = []

    def runbook(self, items: Sequence[_Item]) -> Runbook:
        self._read(items, "start")
        if self._pitfalls:
            self._nodes["start"]["pitfalls"] = self._pitfalls
        title = self._facts["title"]
        when = _parts(self._facts.get("when")) or [title.casefold()]
        return Runbook.model_validate({**self._facts, "when": when, "nodes": self._nodes})

    def _read(self, items: Sequence[_Item], name: str) -> None:
        """Make a node of the items of a list, and of what follows a question its branches."""
        node = self._nodes[name] = {}
        steps: list[str] = []
        for at, item in enumerate(items):
            if (key := pattern("list_key").match(item.text)) is not None:
                if (word := key[1].casefold()) == "pitfall":
                    self._pitfalls.append(key[2])
                else:
                    of_node = word in ("cause", "person")
                    (node if of_node else self._facts)[word] = key[2].strip()
            elif item.text.endswith("?") and item.below and "ask" not in node:
                node["ask"] = item.text
                node["choices"] = choices = list[dict[str, object]]()
                goes_on = [one for one in item.below if pattern("list_go_on").match(one.text)]
                choices += [
                    self._choice(one, f"{name}.{n}")
                    for n, one in enumerate(item.below, 1)
                    if one not in goes_on
                ]
                if goes_on:
                    choices.append({"then": f"{name}.next"})
                    self._read(items[at + 1 :], f"{name}.next")
                    break
            elif pattern("list_pitfalls").match(item.text) and item.below:
                self._pitfalls += [one.text for one in item.below]
            else:
                details = "; ".join(one.text for one in item.below)
                steps.append(f"{item.text.rstrip(':')}: {details}" if details else item.text)
        if steps:
            node["do"] = steps

    def _choice(self, item: _Item, name: str) -> dict[str, object]:
        found = pattern("list_branch").match(item.text)
        label, words, rest = found.groups() if found else (item.text, None, None)
        if rest and rest.endswith("?"):
            self._read([_Item(rest, item.below)], name)
        else:
            self._read([*([_Item(rest)] if rest else []), *item.below], name)
        if pattern("list_otherwise").fullmatch(label):
            return {"label": label, "then": name}
        alone = [" ".join(content(one)) for one in pattern("alternatives").split(label)]
        return {"if": _parts(words) or alone, "label": label, "then": name}


def _parts(listed: str | None) -> list[str]:
    return [one.strip() for one in (listed or "").split(",") if one.strip()]


def main(names: Sequence[str]) -> None:
    """Print the runbooks of Markdown files as YAML."""
    found = [one for name in names for one in runbooks_of(Path(name).read_text("utf-8"), name)]
    if not found:
        sys.exit("no runbook: name Markdown files that have a heading and a list below it")
    print(to_yaml(found), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
