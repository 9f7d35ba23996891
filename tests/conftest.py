"""What all tests share: a place for logs and one for a warehouse, and `make golden`'s option."""

import os
from pathlib import Path

import pytest

from tests.ruins import Ruin

# No test may be priced by whoever runs it; an empty file is no own price.
os.environ["CCLAKE_PRICES"] = os.devnull


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write the expected results of tests/golden again instead of comparing",
    )


@pytest.fixture
def rewrite_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite-golden"))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A Claude config directory without a log."""
    folder = tmp_path / "logs"
    (folder / "projects").mkdir(parents=True)
    return folder


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Where a warehouse can be made."""
    return tmp_path / "lake"


@pytest.fixture(scope="session")
def ruin(tmp_path_factory: pytest.TempPathFactory) -> Ruin:
    """A warehouse with one of everything; a test damages a copy of it."""
    return Ruin(tmp_path_factory.mktemp("ruin"))
