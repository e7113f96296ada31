"""F36: no secret reaches a log. F35: a log record is one line."""

import logging

import pytest

from leadhand.redaction import REDACTED, RedactingFilter, Redactor

KEY = "corp-Zx81kQpLm29vTtRwYh-aa77"
ODD = 'p"a\\ss\nw0rd!'
REDACT = Redactor.of({"CORP_API_KEY": KEY, "DB_PASSWORD": ODD})


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, logger="leadhand.test_redaction")
    return caplog


@pytest.fixture
def log() -> logging.Logger:
    logger = logging.getLogger("leadhand.test_redaction")
    logger.filters = [RedactingFilter(REDACT)]
    return logger


def test_a_log_record_has_no_secret_in_message_arguments_or_exception(
    log: logging.Logger, logged: pytest.LogCaptureFixture
) -> None:
    try:
        raise ValueError(f"no access with {KEY}")
    except ValueError:
        log.exception("failed with %s and %r", KEY, {"key": ODD}, stack_info=True)
    [record] = logged.records
    formatted = logging.Formatter().format(record)
    assert KEY not in formatted
    assert "w0rd!" not in formatted
    assert "ValueError: no access with [redacted]" in formatted
    assert formatted.startswith("failed with [redacted] and ")
    assert len(formatted.splitlines()) == 1
    assert KEY not in repr(vars(record))


def test_line_ends_and_controls_in_names_make_no_second_record(
    log: logging.Logger, logged: pytest.LogCaptureFixture
) -> None:
    """F35."""
    log.warning("task %s", "a\r\nWARNING forged\x1b[2J\u2028\x85\ud800é")
    [record] = logged.records
    assert record.getMessage() == ("task a\\r\\nWARNING forged\\x1b[2J\\u2028\\x85\\ud800é")


def test_arguments_that_do_not_fit_are_logged_without_their_secrets(
    log: logging.Logger, logged: pytest.LogCaptureFixture
) -> None:
    log.warning("%d tasks", KEY)
    [record] = logged.records
    assert record.getMessage() == f"%d tasks ('{REDACTED}',)"
