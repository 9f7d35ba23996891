"""What fault tests share: a tally each, and one table of all when they are run by themselves.

A test counts what it does: `def test_x(tally: Tally) -> None: tally.injected += 1`.
"""

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from tests.faults.tally import Group, Tally, group_of, table_of, tally_from

_GROUPS = pytest.StashKey[dict[str, Group]]()
_SKIPS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--skips-fail", action="store_true", help="count a fault test that is skipped as not passed"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_GROUPS], config.stash[_SKIPS] = {}, []
    config.pluginmanager.register(_Account(config), "fault-account")


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Tally]:
    """The counts of this test; they travel in its report, from another process too."""
    counts = Tally()
    yield counts
    request.node.user_properties.append(("tally", asdict(counts)))


class _Account:
    """Sums up reports as they come in, and prints them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._groups, self._skips = config.stash[_GROUPS], config.stash[_SKIPS]
        self._fails_by_skips = bool(config.getoption("--skips-fail", default=False))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "tests/faults/" not in report.nodeid:
            return
        group = self._groups.setdefault(group_of(report.nodeid), Group())
        if report.when == "setup":
            group.tests += 1
        if report.when == "call" and report.passed:
            group.passed += 1
        if report.when == "teardown":
            stated = dict(report.user_properties).get("tally")
            group.tally += tally_from(stated) if stated else Tally()
        if report.skipped:
            self._skips.append(f"not run: {report.nodeid}: {_reason_of(report)}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._skips and self._fails_by_skips and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._groups:
            return
        terminalreporter.section("faults")
        for line in [*table_of(self._groups), *sorted(self._skips)]:
            terminalreporter.write_line(line)


def _reason_of(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(getattr(report, "wasxfail", report.longrepr))
