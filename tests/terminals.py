"""A terminal that is none: a command runs in it, and a test types and reads."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PATIENCE_SECONDS = 60
_MOMENT_SECONDS, _MOST_TIMES = 6, 10
# A session of its own has no terminal until its first process takes one: only then is ^C a signal.
_TAKE_THE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Terminal:
    """The keyboard and the screen of one command."""

    def __init__(self, command: subprocess.Popen[bytes], screen: int) -> None:
        self._command = command
        self._screen = screen
        self._unread = b""

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def interrupt(self, words: str) -> str:
        """Press Ctrl-C and wait for words; a prompt that is just painted may not listen yet."""
        for _ in range(_MOST_TIMES):
            self.type("\x03")
            while words.encode() not in self._unread and self._has_more(_MOMENT_SECONDS):
                self._unread += self._read()
            if words.encode() in self._unread:
                break
        return self.until(words)

    def until(self, words: str) -> str:
        """Read on until words are shown, and return what was shown up to them."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while words.encode() not in self._unread:
            assert time.monotonic() < end, f"no {words!r} in {self._unread!r}"
            self._unread += self._read()
        shown, _, self._unread = self._unread.partition(words.encode())
        return shown.decode()

    def ended(self) -> int:
        """Read to the end, and return the exit code."""
        while more := self._read():
            self._unread += more
        return self._command.wait(_PATIENCE_SECONDS)

    def hang_up(self) -> None:
        """Close the window."""
        self._command.send_signal(signal.SIGHUP)

    def _has_more(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], seconds)
        return bool(ready)

    def _read(self) -> bytes:
        assert self._has_more(_PATIENCE_SECONDS), f"nothing more after {self._unread!r}"
        try:
            return os.read(self._screen, 65536)
        except OSError:  # Linux says so when the last one who could write has gone.
            return b""


@contextmanager
def terminal(*arguments: str, **environment: str) -> Iterator[Terminal]:
    """Run `python -m etl` in a terminal of its own."""
    screen, line = pty.openpty()
    command = [sys.executable, "-c", _TAKE_THE_TERMINAL, "-m", "etl", *arguments]
    with subprocess.Popen(
        command,
        stdin=line,
        stdout=line,
        stderr=line,
        env=_plain(environment),
        start_new_session=True,
    ) as started:
        os.close(line)
        try:
            yield Terminal(started, screen)
        finally:
            os.close(screen)
            started.kill()


def _plain(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which readline paints nothing and reads nobody's settings."""
    return {
        **os.environ,
        "TERM": "dumb",
        "INPUTRC": os.devnull,
        "COLUMNS": "100",
        "LINES": "40",
        **environment,
    }


def stand_in(folder: Path, *, version: str, body: str = "") -> Path:
    """Write an executable called duckdb that tells a version and then runs Python."""
    program = folder / "duckdb"
    folder.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"if sys.argv[1:] == ['-version']: print({version!r}); sys.exit()\n"
        f"{body}\n"
    )
    program.chmod(0o755)
    return program
