"""Where logs, warehouse and own prices are: flags, environment, then the platform's own places."""

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_config_path, user_data_path, user_state_path

from etl.discover import config_of, projects_of
from etl.errors import UsageError
from etl.prices import shipped
from etl.prices.book import Book
from etl.prices.overrides import with_overrides

_SOURCE = re.compile(r"(?!\.)[a-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Settings:
    """What one sync needs to know."""

    roots: tuple[Path, ...]
    warehouse: Path
    source: str
    jobs: int
    configs: tuple[Path, ...] = ()
    book: Book = field(default_factory=shipped)
    content: str | None = None  # None: as the warehouse has it
    redact: str | None = None


def warehouse_of(given: str | None) -> Path:
    """Return the warehouse folder: as given, as $CCLAKE_WAREHOUSE has it, or the platform's."""
    named = given or os.environ.get("CCLAKE_WAREHOUSE")
    if named:
        return Path(named).expanduser().absolute()
    return user_data_path("cclake", appauthor=False)


def settings_of(
    *, logs: Sequence[str], warehouse: str | None, source: str | None, jobs: int | None
) -> Settings:
    """Settle where to read and write, or say what is missing."""
    name = machine_name() if source is None else source
    if not _SOURCE.fullmatch(name):
        raise UsageError(
            f"source name {name!r} does not fit",
            hint="use 1 to 64 of a-z, 0-9, dash, underscore and dot, no dot first: --source laptop",
        )
    folders = _log_folders(logs)
    roots = tuple(dict.fromkeys(projects_of(folder).resolve() for folder in folders))
    _refuse_the_world(folders, roots)
    configs = tuple(dict.fromkeys(config for one in folders if (config := config_of(one))))
    folder = warehouse_of(warehouse)
    _refuse_nesting(folder, roots)
    _refuse_partition_names(folder)
    return Settings(roots, folder, name, jobs or os.cpu_count() or 1, configs, price_book())


def settings_to_repair(
    *, logs: Sequence[str], warehouse: str | None, source: str | None
) -> Settings:
    """Settle as for a sync; where no log folder is named, there need not be one."""
    try:
        return settings_of(logs=logs, warehouse=warehouse, source=source, jobs=None)
    except UsageError:
        if logs or source is not None:
            raise
    jobs = os.cpu_count() or 1
    return Settings((), warehouse_of(warehouse), machine_name(), jobs, book=price_book())


def history_file() -> Path:
    """Return where what was typed at the prompt is remembered."""
    return user_state_path("cclake", appauthor=False) / "history"


def price_book() -> Book:
    """Return the shipped prices, with a person's own laid over them where there are any."""
    named = os.environ.get("CCLAKE_PRICES")
    path = Path(named).expanduser() if named else _usual_prices()
    if not named and not path.exists():
        return shipped()
    return with_overrides(shipped(), _text_of(path), str(path))


def _usual_prices() -> Path:
    return user_config_path("cclake", appauthor=False) / "prices.toml"


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"cannot read own prices at '{path}': {error.strerror}",
            hint="$CCLAKE_PRICES may name another file, or /dev/null for none",
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}, line {line}: it is no text in UTF-8", hint="save it as UTF-8"
        ) from error


def claude_folders() -> tuple[Path, ...]:
    """Return where Claude Code keeps its logs and settings, unless told otherwise."""
    if configured := os.environ.get("CLAUDE_CONFIG_DIR"):
        return (Path(configured),)
    return Path("~/.claude").expanduser(), Path("~/.config/claude").expanduser()


def _log_folders(logs: Sequence[str]) -> tuple[Path, ...]:
    is_given = bool(logs or os.environ.get("CLAUDE_CONFIG_DIR"))
    candidates = tuple(Path(one).expanduser() for one in logs) or claude_folders()
    there = [folder for folder in candidates if folder.is_dir()]
    absent = [folder for folder in candidates if not folder.is_dir()]
    if not there or (is_given and absent):
        names = ", ".join(f"'{folder}'" for folder in absent)
        raise UsageError(
            f"no log folder at {names}",
            hint="name yours with --logs DIR, or try cclake demo DIR for a made-up one",
        )
    return tuple(folder.resolve() for folder in there)


def _refuse_the_world(folders: Sequence[Path], roots: Sequence[Path]) -> None:
    """Logs lie in a folder of theirs; a walk of a whole home or disk would find anything."""
    home = Path("~").expanduser().resolve()
    for place in (*(folder for folder in folders if folder == home), *roots):
        if place in {home, *home.parents, Path(place.anchor)}:
            raise UsageError(
                f"'{place}' holds more than logs, and all of it would be looked through",
                hint="name Claude Code's own directory: --logs ~/.claude",
            )


def _refuse_nesting(warehouse: Path, roots: Sequence[Path]) -> None:
    resolved = warehouse.resolve()
    for root in roots:
        if resolved == root or root in resolved.parents:
            raise UsageError(
                f"warehouse '{warehouse}' lies inside the log folder '{root}'",
                hint="choose a folder outside it with --warehouse DIR",
            )
        if resolved in root.parents:
            raise UsageError(
                f"log folder '{root}' lies inside the warehouse '{warehouse}'",
                hint="choose a folder of its own with --warehouse DIR",
            )


def _refuse_partition_names(warehouse: Path) -> None:
    """DuckDB takes any folder called `source=…` above the files for their source."""
    for name in warehouse.parts:
        if name.startswith(("source=", "month=")):
            raise UsageError(
                f"warehouse '{warehouse}' lies below a folder called '{name}'",
                hint="choose a folder whose name no partition has with --warehouse DIR",
            )


def machine_name() -> str:
    """Return what this machine's logs are called in a warehouse unless told."""
    name = re.sub(r"[^a-z0-9._-]+", "-", socket.gethostname().lower())[:64].strip("-.")
    return name or "local"
