"""schemathesis against the service's own description: whatever is sent, it never fails.

Two requests for each route; with LEADHAND_TEST_ALL, a hundred.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from tests.patience import HANG_S
from tests.serve.desk import PEOPLE, Desk, serving_desk

EXAMPLES = 100 if os.environ.get("LEADHAND_TEST_ALL") else 2
ENDLESS = {"/api/v1/events"}
"""A stream that ends only with the service."""


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Desk]:
    with serving_desk(tmp_path) as desk:
        yield desk


def operations(desk: Desk) -> list[Any]:
    """Of schemathesis, whose types are partly unknown."""
    schema: Any = schemathesis.openapi.from_dict(desk.app.openapi())
    found = [one.ok() for one in schema.get_all_operations()]
    return [one for one in found if one.path not in ENDLESS]


def test_no_request_makes_the_service_fail(quiet: Desk) -> None:
    with requests.Session() as session:
        session.trust_env = False
        for operation in operations(quiet):
            _try(operation, quiet.url, session)


def _try(operation: Any, url: str, session: requests.Session) -> None:
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    cases: Any = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
    )
    @given(case=cases, who=st.sampled_from(sorted(PEOPLE)))
    def send(case: Any, who: str) -> None:
        headers = {"Authorization": f"Bearer {who}"}
        response = case.call(base_url=url, session=session, headers=headers, timeout=HANG_S)
        assert response.status_code < 500, (case.as_curl_command(), response.content)
        if response.status_code >= 400 and case.method != "HEAD":
            kind = response.headers["content-type"][0]
            assert kind.startswith(("application/problem+json", "application/json")), kind

    send()
