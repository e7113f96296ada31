"""Takes the pictures of the gallery: the first screen of the report on each team's sample.

    python docs/teams/pictures.py [TEAM ...]

Needs Chromium (`chromium` on the PATH). No model is used.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "leadhand_teams"
TEAMS = tuple(sorted(file.parents[1].name for file in ROOT.glob("*/samples/request.txt")))
BROWSER = ("chromium", "--headless", "--no-sandbox", "--hide-scrollbars")
SIZE = ("--window-size=900,1000", "--force-device-scale-factor=0.6")


def main(teams: tuple[str, ...]) -> None:
    """Take a picture of each team's report."""
    for team in teams:
        with tempfile.TemporaryDirectory() as folder:
            trial = ("-m", "leadhand", "teams", "try", team, "--no-model", "--out", folder)
            # Status 3: a sample whose files contradict each other.
            subprocess.run([sys.executable, *trial], check=False, capture_output=True)
            picture = Path(__file__).with_name(f"{team}.png")
            page = Path(folder, "report.html").as_uri()
            shot = [*BROWSER, *SIZE, f"--screenshot={picture}", page]
            subprocess.run(shot, check=True, capture_output=True)
            print(f"{picture.name}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or TEAMS)
