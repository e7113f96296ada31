"""How a real model answers each of leadhand's prompts.

    python -m benchmarks.live_prompts MODEL [--file FILE] [--only PROMPT]... [--limit N] [--show]
                                      [--record FOLDER]

The exchanges are kept in the file: an exchange whose prompt is unchanged is not asked again.
`--limit` asks at most so many cases of each prompt. `--show` prints the cases that went wrong.
`--record` writes what was used, and what came of each case, for a test.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.live_prompts.cases import CASES
from benchmarks.live_prompts.kept import Exchanges
from benchmarks.live_prompts.measure import Measured, measured, shown, table


def chosen(only: Sequence[str], limit: int | None) -> list[str]:
    """The names of the cases to ask."""
    return [
        name
        for name, case in CASES.items()
        if (not only or any(word in case.prompt for word in only))
        and (limit is None or int(name.rpartition(" ")[2]) <= limit)
    ]


async def ask(
    model: str, exchanges: Exchanges, names: Sequence[str], *, show: bool
) -> list[Measured]:
    """Ask, and print the table."""
    found: list[Measured] = []
    async for one in measured(model, exchanges, names):
        found.append(one)
        print(one.line, file=sys.stderr, flush=True)
        if show and (one.problems or one.wrong):
            print(shown(one), flush=True)
    print(table(found))
    return found


def record(folder: Path, exchanges: Exchanges, found: Sequence[Measured]) -> None:
    """Write the exchanges, and what came of each case."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps(row, ensure_ascii=False) for row in exchanges.used)
    (folder / "exchanges.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = "".join(f"{one.line}\n" for one in found)
    (folder / "cases.txt").write_text(lines, encoding="utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", help="such as openai-chat:qwen")
    parser.add_argument("--file", type=Path, help="where the exchanges are kept")
    parser.add_argument("--only", action="append", default=[], help="prompts with this in the name")
    parser.add_argument("--limit", type=int, help="cases of each prompt")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    parser.add_argument("--record", type=Path, help="a folder for the exchanges that were used")
    options = parser.parse_args()
    name = options.model.replace(":", "-").replace("/", "-")
    exchanges = Exchanges(options.file or Path(f"benchmarks/results/prompts-{name}.jsonl"))
    names = chosen(options.only, options.limit)
    found = asyncio.run(ask(options.model, exchanges, names, show=options.show))
    if options.record is not None:
        record(options.record, exchanges, found)


if __name__ == "__main__":
    main()
