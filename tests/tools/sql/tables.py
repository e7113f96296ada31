"""Input files for the tests of SQL."""

import subprocess
import sys
from pathlib import Path

from leadhand.tools.files.inputs import Inputs
from leadhand.tools.sql import SqlTools
from leadhand.tools.sql.database import RunRequest
from tests.tools.sql.forks import in_fork

SALES = """region,year,quarter,revenue,unit_price,order_id
North,2022,1,100.5,2,1
South,2022,1,90,3,2
North,2022,2,130,2.5,3
South,2022,2,,3,4
North,2023,1,120,2.5,5
South,2023,1,45,3,6
"""


def tools_over(
    folder: Path,
    *,
    query_timeout_s: float = 600.0,
    answer: RunRequest = in_fork,
    **files: str | bytes,
) -> SqlTools:
    """The tools over files of these contents; `sales_csv="..."` is in `sales.csv`."""
    for key, content in files.items():
        stem, _, suffix = key.rpartition("_")
        data = content.encode() if isinstance(content, str) else content
        (folder / f"{stem}.{suffix}").write_bytes(data)
    return SqlTools(
        Inputs.of([folder]), query_timeout_s=query_timeout_s, load_timeout_s=600.0, answer=answer
    )


def write_parquet(path: Path, select: str) -> None:
    """Write what a SELECT gives; in a process of its own, so that no test leaves a library open."""
    script = "import duckdb, sys; duckdb.sql(f'COPY ({sys.argv[1]}) TO {sys.argv[2]!r}')"
    subprocess.run([sys.executable, "-c", script, select, str(path)], check=True)
