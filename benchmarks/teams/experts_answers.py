"""How often the passage that the team `experts` quotes first is right, with and without a doubt.

    python -m benchmarks.teams.experts_answers [--workloads DIR] [--most 353]

Reads `teams/support_manuals`: questions on two manuals, each with the sections that answer it.
Each section is handed in as a document of its own, as its place in the manual is not to help.
Nothing of these questions was read by the author of the team; the threshold `rival` of its
`words.yaml` was chosen on 160 of them.
"""

import argparse
import gzip
import json
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from leadhand_teams.experts.drafts import opinion_on


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a compressed JSONL file."""
    if not file.exists():
        raise SystemExit(f"there is no {file}: name the folder of the workloads with --workloads")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def file_of(section: str) -> str:
    """The name of the file that a section is written to."""
    return f"{section.replace('/', '_')}.md"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    parser.add_argument("--most", type=int, default=353)
    given = parser.parse_args()
    source = given.workloads / "teams" / "support_manuals"
    questions = rows(source / "data.jsonl.gz")
    random.Random(7).shuffle(questions)
    found: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for one in rows(source / "docs.jsonl.gz"):
            manual = Path(folder, one["manual"])
            manual.mkdir(exist_ok=True)
            text = f"# {one['title']}\n\n{one['text']}\n"
            (manual / file_of(one["id"])).write_text(text, encoding="utf-8")
        for one in questions[: given.most]:
            opinion = opinion_on(one["question"], [str(Path(folder, one["manual"]))], "technical")
            first = next((cited.ref.partition(":")[0] for cited in opinion.citations), "")
            is_open = any(not each.settled for each in opinion.disagreements)
            kind = "no answer" if not opinion.answered else "sure"
            kind = "doubted" if opinion.answered and (opinion.ask or is_open) else kind
            is_right = first in map(file_of, one["gold"])
            found[kind, "right first" if is_right else "else"] += 1
    for (kind, verdict), count in sorted(found.items()):
        print(f"{kind:10} {verdict:12} {count:4}")


if __name__ == "__main__":
    main()
