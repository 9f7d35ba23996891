"""The command as a process: quick to help, and the whole way from logs to an answer."""

import subprocess
import sys
from pathlib import Path

import pytest

from etl import __version__

TOP = Path(__file__).resolve().parent.parent


def run(*arguments: str | Path, script: str | None = None) -> subprocess.CompletedProcess[str]:
    start = ["-c", script] if script else ["-m", "etl"]
    return subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        cwd=TOP,
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("sync", "--help")])
def test_help_waits_for_no_heavy_library(arguments: tuple[str, ...]) -> None:
    script = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules));"
        "from etl.cli import main; main()"
    )
    done = run(*arguments, script=script)
    assert done.returncode == 0
    assert {"duckdb", "polars", "pyarrow"} & set(done.stdout.split()) == set()
    assert "etl.cli" in done.stdout.split()


def test_demo_sync_and_query_work_as_a_process(tmp_path: Path) -> None:
    logs, lake = tmp_path / "tree", tmp_path / "lake"
    made = run("demo", logs, "--mb", "0.05")
    assert (made.returncode, made.stdout) == (0, "")
    assert run("sync", "--logs", logs, "--warehouse", lake, "--jobs", "2").returncode == 0
    ask = "select count(*) > 10 as many from entries"
    asked = run("query", ask, "--warehouse", lake, "--format", "csv")
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, "many\ntrue\n", "")
    assert run("--version").stdout == f"cclake, version {__version__}\n"
