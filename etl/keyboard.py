"""What a person types at a prompt: line editing, completion, and a history that only they can read.

Where Python has no readline, lines are read plainly, and nothing is remembered.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from etl import access, output

_MOST_LINES = 2000


@contextmanager
def remembered(history: Path, words: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Edit lines in here with the history of earlier times, and complete the words there are."""
    try:
        readline = import_module("readline")
    except ImportError:
        yield
        return
    _complete(readline, words)
    known = _read(readline, history)
    try:
        yield
    finally:
        _keep(readline, history, readline.get_current_history_length() - known)


def _complete(readline: ModuleType, words: Callable[[], Sequence[str]]) -> None:
    found: list[str] = []

    def complete(begun: str, number: int) -> str | None:
        if number == 0:
            found[:] = [word for word in words() if word.startswith(begun.lower())]
        return found[number] if number < len(found) else None

    readline.set_completer(complete)
    # Points stay within a word: raw.entries.
    readline.set_completer_delims(" \t\n,;()=<>+-*/'\"|")
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")


def _read(readline: ModuleType, history: Path) -> int:
    """Read the history, and return how many lines it has."""
    readline.clear_history()
    try:
        if history.exists():
            readline.read_history_file(history)
    except OSError as error:
        output.say(f"the history at '{history}' cannot be read: {error.strerror}")
    return int(readline.get_current_history_length())


def _keep(readline: ModuleType, history: Path, fresh: int) -> None:
    """Add what was typed to the history, beside what other prompts added meanwhile."""
    try:
        with access.only_for_the_owner():
            history.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(history, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            os.fchmod(descriptor, 0o600)
            os.close(descriptor)
            readline.set_history_length(_MOST_LINES)
            if hasattr(readline, "append_history_file"):
                readline.append_history_file(fresh, history)
            else:
                readline.write_history_file(history)
    except OSError as error:
        output.say(f"the history at '{history}' cannot be kept: {error.strerror}")
