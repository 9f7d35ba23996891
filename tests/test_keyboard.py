"""Line editing and its history; the rest of it is tried in a terminal, in test_shell.py."""

import readline
from pathlib import Path

import pytest

from etl import keyboard
from etl.keyboard import remembered


def test_words_that_begin_so_complete_what_is_begun(tmp_path: Path) -> None:
    with remembered(tmp_path / "history", lambda: ["raw.usage", "usage", "usage_blocks"]):
        complete = readline.get_completer()
        assert complete
        assert [complete("USA", number) for number in range(3)] == ["usage", "usage_blocks", None]
        assert complete("raw.", 0) == "raw.usage"
        assert "." not in readline.get_completer_delims()


def test_two_prompts_at_once_keep_both_histories(tmp_path: Path) -> None:
    history = tmp_path / "deep" / "history"
    with remembered(history, list):
        readline.add_history("one;")
    with remembered(history, list):
        readline.add_history("two;")
        # Another prompt ends meanwhile.
        with history.open("a") as other:
            other.write("three;\n")
    assert sorted(history.read_text().split()) == ["one;", "three;", "two;"]
    assert history.stat().st_mode & 0o777 == 0o600
    assert history.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_in_the_place_of_the_history_is_not_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "target").write_text("keep me\n")
    (tmp_path / "history").symlink_to(tmp_path / "target")
    with remembered(tmp_path / "history", list):
        readline.add_history("secret;")
    assert (tmp_path / "target").read_text() == "keep me\n"
    assert "cannot be kept" in capsys.readouterr().err


def test_without_readline_lines_are_read_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(keyboard, "import_module", missing)
    with remembered(tmp_path / "history", list):
        pass
    assert list(tmp_path.iterdir()) == []
