"""Where logs, warehouse and own prices are: flags, environment, then the usual places."""

import os
import re
from pathlib import Path

import platformdirs
import pytest

from etl.config import Settings, history_file, price_book, settings_of, warehouse_of
from etl.errors import UsageError
from etl.prices import shipped


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CCLAKE_PRICES", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def config_directory(folder: Path) -> Path:
    (folder / "projects").mkdir(parents=True)
    return folder


def settings(
    *logs: Path | str, warehouse: Path | str = "/nowhere/lake", source: str | None = "desk"
) -> Settings:
    return settings_of(
        logs=[str(one) for one in logs], warehouse=str(warehouse), source=source, jobs=2
    )


def refusal(*logs: Path | str, warehouse: Path | str = "/nowhere/lake") -> UsageError:
    with pytest.raises(UsageError) as caught:
        settings(*logs, warehouse=warehouse)
    assert caught.value.hint
    return caught.value


def test_what_was_given_is_what_is_used(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    assert settings(logs, warehouse=tmp_path / "lake") == Settings(
        (logs / "projects",), tmp_path / "lake", "desk", 2, (logs,)
    )


def test_a_config_directory_and_its_projects_are_one_root(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    (tmp_path / "link").symlink_to(logs)
    settled = settings(logs, logs / "projects", tmp_path / "link")
    assert (settled.roots, settled.configs) == ((logs / "projects",), (logs,))


def test_logs_that_lie_elsewhere_are_read_with_what_lies_beside_the_link(tmp_path: Path) -> None:
    logs = tmp_path / "claude"
    logs.mkdir()
    (tmp_path / "disk").mkdir()
    (logs / "projects").symlink_to(tmp_path / "disk")
    settled = settings(logs)
    assert (settled.roots, settled.configs) == ((tmp_path / "disk",), (logs,))


def test_a_folder_that_is_neither_has_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    assert settings(tmp_path / "copies").configs == ()


def test_several_roots_keep_their_order(tmp_path: Path) -> None:
    one, two = config_directory(tmp_path / "1"), config_directory(tmp_path / "2")
    assert settings(two, one).roots == (two / "projects", one / "projects")


def test_a_tilde_is_the_home_directory(home: Path) -> None:
    logs = config_directory(home / "claude")
    assert settings("~/claude").roots == (logs / "projects",)


def test_a_relative_warehouse_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert warehouse_of("lake") == tmp_path / "lake"


def test_a_warehouse_lies_in_the_data_directory_unless_told(home: Path) -> None:
    assert warehouse_of(None).name == "cclake"
    assert warehouse_of(None).is_relative_to(home)


def test_the_usual_places_are_read_where_they_exist(home: Path) -> None:
    config_directory(home / ".config" / "claude")
    assert settings().roots == (home / ".config" / "claude" / "projects",)
    config_directory(home / ".claude")
    assert settings().roots == (
        home / ".claude" / "projects",
        home / ".config" / "claude" / "projects",
    )


def test_the_environment_names_the_one_place_to_read(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_directory(home / ".claude")
    elsewhere = config_directory(tmp_path / "elsewhere")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(elsewhere))
    assert settings().roots == (elsewhere / "projects",)
    assert settings(home / ".claude").roots == (home / ".claude" / "projects",)


def test_an_environment_that_names_no_folder_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_directory(home / ".claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nowhere"))
    assert refusal().what == f"no log folder at '{tmp_path / 'nowhere'}'"


def test_one_folder_that_is_not_there_refuses_the_run(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    (tmp_path / "file").write_text("no folder")
    error = refusal(logs, tmp_path / "gone", tmp_path / "file")
    assert error.what == f"no log folder at '{tmp_path / 'gone'}', '{tmp_path / 'file'}'"


def test_no_logs_anywhere_is_refused_with_every_place_looked_at(home: Path) -> None:
    error = refusal()
    assert error.what == f"no log folder at '{home}/.claude', '{home}/.config/claude'"
    assert "--logs" in str(error.hint)


@pytest.mark.parametrize("below", ["", "lake", "a/b/lake", "other/../lake"])
def test_a_warehouse_inside_the_logs_is_refused(tmp_path: Path, below: str) -> None:
    logs = config_directory(tmp_path / "claude")
    error = refusal(logs, warehouse=f"{logs / 'projects'}/{below}")
    assert f"lies inside the log folder '{logs / 'projects'}'" in error.what


def test_a_warehouse_that_a_link_leads_into_the_logs_is_refused(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    (tmp_path / "link").symlink_to(logs / "projects")
    assert "lies inside" in refusal(logs, warehouse=tmp_path / "link" / "lake").what


def test_a_warehouse_around_the_logs_is_refused(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    (tmp_path / "link").symlink_to(tmp_path)
    for around in (logs, tmp_path, tmp_path / "link", Path("/")):
        told = f"log folder '{logs / 'projects'}' lies inside the warehouse '{around}'"
        assert refusal(logs, warehouse=around).what == told


def test_logs_are_not_looked_for_in_a_whole_home_or_on_a_whole_disk(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(home)
    for place in ("/", "~", tmp_path / "link", home.parent, "/proc/.."):
        error = refusal(place)
        assert "holds more than logs" in error.what
        assert "--logs ~/.claude" in str(error.hint)
    (home / "projects").mkdir()  # In a home, of anybody's making.
    assert "holds more than logs" in refusal(home).what
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/")
    assert "holds more than logs" in refusal().what


def test_a_warehouse_beside_the_logs_is_fine(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    beside = logs / "projects-lake"
    assert settings(logs, warehouse=beside).warehouse == beside


@pytest.mark.parametrize("source", ["a", "0", "laptop.local", "x" * 64, "a_b-c.d"])
def test_a_source_of_plain_letters_fits(tmp_path: Path, source: str) -> None:
    assert settings(config_directory(tmp_path / "claude"), source=source).source == source


@pytest.mark.parametrize("source", ["Laptop", "a b", "a/b", "x" * 65, "ä", "a\n", "a=b", "\u0661"])
def test_a_source_that_could_disturb_a_path_is_refused(tmp_path: Path, source: str) -> None:
    with pytest.raises(UsageError, match="does not fit") as caught:
        settings(config_directory(tmp_path / "claude"), source=source)
    assert repr(source) in caught.value.what
    assert "--source" in str(caught.value.hint)


def test_a_machine_without_a_given_name_still_has_one_that_fits(tmp_path: Path) -> None:
    name = settings(config_directory(tmp_path / "claude"), source=None).source
    assert re.fullmatch(r"[a-z0-9._-]{1,64}", name)


def test_every_core_works_unless_told(tmp_path: Path) -> None:
    logs = config_directory(tmp_path / "claude")
    found = settings_of(logs=[str(logs)], warehouse=None, source=None, jobs=None)
    assert found.jobs == os.cpu_count()


@pytest.mark.parametrize("name", ["source=x", "month=2026-03"])
def test_a_warehouse_below_a_partitions_name_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "projects").mkdir()
    with pytest.raises(UsageError, match=name):
        settings_of(logs=[str(tmp_path)], warehouse=str(tmp_path / name / "w"), source="s", jobs=1)


def test_a_warehouse_in_what_projects_links_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "projects").symlink_to(tmp_path / "real")
    with pytest.raises(UsageError, match="lies inside the log folder"):
        settings_of(
            logs=[str(tmp_path / "config")],
            warehouse=str(tmp_path / "real" / "lake"),
            source="s",
            jobs=1,
        )


# ---- Own prices.


def own_file(path: Path, text: str = '[[alias]]\nname = "big"\nmodel = "claude-opus-5"\n') -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_a_file_of_own_prices_the_shipped_ones_hold(tmp_path: Path) -> None:
    assert price_book() is shipped()
    assert settings(config_directory(tmp_path / "claude")).book is shipped()


def test_own_prices_lie_in_the_config_directory_unless_told(home: Path, tmp_path: Path) -> None:
    usual = platformdirs.user_config_path("cclake", appauthor=False) / "prices.toml"
    assert usual.is_relative_to(home)
    own_file(usual)
    assert price_book().aliases == {"big": "claude-opus-5"}
    assert settings(config_directory(tmp_path / "claude")).book == price_book()


def test_the_environment_names_the_file_of_own_prices(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_file(home / "mine.toml")
    monkeypatch.setenv("CCLAKE_PRICES", "~/mine.toml")
    assert price_book().aliases == {"big": "claude-opus-5"}
    monkeypatch.setenv("CCLAKE_PRICES", os.devnull)
    assert price_book() is shipped()


def refused_prices() -> UsageError:
    with pytest.raises(UsageError) as caught:
        price_book()
    assert caught.value.hint
    return caught.value


def test_a_named_file_of_own_prices_must_be_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCLAKE_PRICES", str(home / "gone.toml"))
    told = f"cannot read own prices at '{home}/gone.toml': No such file or directory"
    assert refused_prices().what == told
    monkeypatch.setenv("CCLAKE_PRICES", str(home))
    assert refused_prices().what == f"cannot read own prices at '{home}': Is a directory"


def test_own_prices_that_are_no_text_are_refused_with_their_line(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "mine.toml"
    monkeypatch.setenv("CCLAKE_PRICES", str(path))
    path.write_bytes(b"# caf\xc3\xa9\n# caf\xe9\n")
    assert refused_prices().what == f"{path}, line 2: it is no text in UTF-8"
    path.write_bytes(b"\xef\xbb\xbf# an editor's mark of order is no text\n")
    assert price_book() is shipped()


def test_what_was_typed_is_remembered_in_the_platforms_place_for_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    usual = platformdirs.user_state_path("cclake", appauthor=False)
    assert history_file() == usual / "history"
    assert home in history_file().parents
