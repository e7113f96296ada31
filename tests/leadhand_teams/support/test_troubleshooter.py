"""Tracebacks, logs, codes and systems in the text of a request."""

from leadhand_teams.support.troubleshooter import environment, signs

REQUEST = """Since the update my script fails on Windows 11 with Python 3.12.1:
Traceback (most recent call last):
  File "C:\\work\\report.py", line 12, in <module>
    main()
  File "C:\\python\\site-packages\\requests\\adapters.py", line 500, in send
    raise ReadTimeout(e)
requests.exceptions.ReadTimeout: Read timed out.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "C:\\work\\report.py", line 20, in <module>
    stop()
RuntimeError: no report
"""
LOG = """2026-01-02 10:11:12,123 ERROR pool connection to 10.0.0.1:5432 refused
2026-01-02 10:11:13,456 ERROR pool connection to 10.0.0.2:5432 refused
2026-01-02 10:11:14,000 INFO still here
Exception in thread "main" java.lang.IllegalStateException: no pool
\tat com.acme.Pool.take(Pool.java:12)
Caused by: java.io.IOException: disk
\tat com.acme.Disk.read(Disk.java:13)
"""


def test_a_traceback_is_read_to_its_cause_and_the_customers_own_line() -> None:
    first, second = signs(REQUEST, "request")
    assert first.text == "requests.exceptions.ReadTimeout: Read timed out."
    assert first.place == "C:\\work\\report.py, line 12"
    assert (first.ref, first.kind) == ("request:7", "traceback")
    assert second.text == "RuntimeError: no report"


def test_lines_of_a_log_that_differ_in_numbers_count_as_one() -> None:
    cause, error, line = signs(LOG, "app.log")
    assert cause.text == "java.io.IOException: disk"
    assert error.text == "java.lang.IllegalStateException: no pool"
    assert (line.times, line.ref, line.place) == (2, "app.log:1", "2026-01-02 10:11:12,123")


def test_codes_are_named_by_what_they_are() -> None:
    text = "curl says HTTP 502, then exit code 137, ECONNREFUSED and error E1234; order 404 is fine"
    assert [one.text for one in signs(text, "request")] == [
        "HTTP status 502",
        "exit code 137",
        "system error ECONNREFUSED",
        "error code E1234",
    ]
    assert signs("Good morning, where is the manual?", "request") == []


def test_systems_and_versions_are_found_once() -> None:
    assert environment(f"{REQUEST} Firefox 120, Python 3.12.1, app version 2.4.1.") == (
        "Windows 11",
        "Python 3.12.1",
        "Firefox 120",
        "version 2.4.1",
    )
    assert environment("We go on with plan v and the windows are open") in ((), ("windows",))
