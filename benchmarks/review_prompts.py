"""What each lens of `leadhand review --model` sends first, in tokens of four characters.

    python -m benchmarks.review_prompts [RANGE] [REPO]

A scripted server answers every lens with no finding, so that one request per lens and part is sent.
"""

import os
import subprocess
import sys
from collections import defaultdict

from leadhand.testing import ModelReply, Request, ScriptedServer
from leadhand.testing.exchange import Role
from leadhand.testing.json_data import Object, compact, items, mapping, text

LENSES = {
    "security": "lets an attacker do harm",
    "bugs": "code that will fail",
    "performance": "work that takes far longer",
    "history": "commits that lead up to a change",
    "comments": "what is written about the code",
    "past_reviews": "what reviewers of this project said",
    "guidelines": "the rules that this project gave itself",
    "tests": "the tests that a change brings",
}
"""By words of their instructions."""


def nothing(request: Request, role: Role) -> ModelReply | None:
    """A reviewer that finds nothing."""
    answer: Object = {
        "answer": [],
        "summary": "",
        "confidence": 80,
        "evidence": [],
        "plan_impact": "none",
    }
    return ModelReply(json=answer) if role == "worker" else None


def main() -> None:
    """Print the table."""
    change, repo = (*sys.argv[1:], *("HEAD", ".")[len(sys.argv) - 1 :])
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    with ScriptedServer(keep_bodies=1_000, script="benchmarks.review_prompts:nothing") as server:
        command = ("review", change, "--repo", repo, "--model", "openai-chat:scripted", "-q")
        env = {**os.environ, **server.env()}
        subprocess.run([sys.executable, "-m", "leadhand", *command], env=env, check=False,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        for kept in server.stats().bodies:
            body = mapping(kept.get("body"))
            said = [text(mapping(one).get("content")) for one in items(body.get("messages"))]
            lens = next((name for name, words in LENSES.items() if words in said[0]), "scorer")
            sizes[lens].append(sum(map(len, said)) + len(compact(body.get("tools", []))))
    print("| lens | requests | tokens |\n|---|---|---|")
    for lens, chars in sorted(sizes.items()):
        print(f"| {lens} | {len(chars)} | {sum(chars) / 4:,.0f} |")


if __name__ == "__main__":
    main()
