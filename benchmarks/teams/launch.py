"""Elasticities and survey prices of the team `launch`, beside figures that others published.

    python -m benchmarks.teams.launch [--workloads DIR]

Reads `teams/pricing`: orange juice sales, avocado sales and a price survey, each handed in as users
would, in a file of its own.
"""

import argparse
import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import cast

from leadhand import Supervisor
from leadhand.contracts.task import Batch
from leadhand.extension import load
from leadhand_teams.launch.output import Launch

AVOCADO = {"conventional": -0.93, "organic": -1.41}
"""With effects of region and week, by least squares of the data's description."""


def launch(request: str, name: str, data: bytes) -> Launch:
    """What the team answers for one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        batches = {"inputs": [Batch(artifacts=(str(path),))]}
        answer = Supervisor(load("launch")).run_sync(request, batches=batches)
    return Launch.model_validate(answer.output)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    folder = cast("Path", parser.parse_args().workloads) / "teams" / "pricing"
    if not folder.is_dir():
        raise SystemExit(f"there is no {folder}: name the folder of the workloads with --workloads")
    expected = json.loads((folder / "oj_expected.json").read_text())["reference"]["given"]
    known = {"brand": expected["pooled_elasticity"], "": expected["naive_no_brand"]}
    oj = gzip.decompress((folder / "oj.csv.gz").read_bytes())
    found = launch("How does price move sales?", "oj.csv", oj)
    for one in found.elasticities:
        controls = ", ".join(one.controls)
        reference = known.get(controls) if one.product is None else None
        if one.product is not None and not controls:
            reference = expected["by_brand"].get(one.product)
        print(f"orange juice, {one.product or 'all'} ({controls}): {one.value:.3f} ({reference})")
    print("\n".join(found.warnings))
    avocado = gzip.decompress((folder / "avocado.csv.gz").read_bytes())
    for one in launch("How does price move sales?", "avocado.csv", avocado).elasticities:
        controls = ", ".join(one.controls)
        reference = AVOCADO.get(one.product or "") if len(one.controls) == 2 else None
        print(f"avocado, {one.product or 'all'} ({controls}): {one.value:.3f} ({reference})")
    survey = (folder / "psm_survey.csv").read_bytes()
    found = launch("What price does the survey suggest?", "survey.csv", survey)
    prices = found.survey.model_dump(exclude={"curves"}) if found.survey else None
    print(prices, json.loads((folder / "psm_expected.json").read_text()))


if __name__ == "__main__":
    main()
