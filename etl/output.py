"""How results and errors are shown: the result on stdout, the talk on stderr."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from etl.counts import counted
from etl.errors import CclakeError, UsageError
from etl.jsontext import indented, visible

if TYPE_CHECKING:
    from etl.bill import Bill
    from etl.cards import Explanation, ShownCard
    from etl.check import Report
    from etl.forget import Scope
    from etl.repair import Report as Repair

_TITLE_CHARS = 60
_LINES_AT_ONCE = 100
_STYLES: dict[str, dict[str, Any]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "bad": {"fg": "red"},
    "hit": {"bold": True, "fg": "yellow"},
}
_PROBLEMS_SHOWN = 3
_PRICES = ("input", "output", "write 5m", "write 1h", "read")
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def show_json(result: object) -> None:
    """Print a result as JSON."""
    click.echo(visible(indented(result)))


def say(words: str) -> None:
    """Tell a person something that is not the result, in lines that steer no terminal."""
    click.echo("\n".join(map(printable, words.split("\n"))), err=True)


def say_each(told: Sequence[tuple[str, str]], most: int | None = None) -> None:
    """Tell what became of some files: a line each, or a count where there are many alike."""
    by_what: dict[str, list[str]] = {}
    for path, what in told:
        by_what.setdefault(what, []).append(path)
    for what, paths in by_what.items():
        if most is not None and len(paths) > most:
            say(f"{len(paths):,} files: {printable(what)}")
        else:
            for path in paths:
                say(f"{printable(path)}: {printable(what)}")


def fail(error: CclakeError) -> NoReturn:
    """Say what happened and what to do, and end with the error's exit code."""
    say(f"cclake: {error}")
    if error.hint:
        say(f"hint: {printable(error.hint)}")
    sys.exit(error.exit_code)


def write_text(path: Path, text: str) -> None:
    """Write a page, or say plainly why not."""
    try:
        path.write_text(text)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}", hint="name another") from error


def show_lines(lines: Iterable[str | Sequence[tuple[str, str]]]) -> None:
    """Print lines as they come, some at a time; of styled pieces a terminal shows the styles."""
    has_styles = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    shown = (
        line if isinstance(line, str) else _line_of(line, has_styles=has_styles) for line in lines
    )
    while some := list(islice(shown, _LINES_AT_ONCE)):
        click.echo("\n".join(some))


def _line_of(pieces: Sequence[tuple[str, str]], *, has_styles: bool) -> str:
    if not has_styles:
        return "".join(words for words, _ in pieces)
    return "".join(click.style(words, **_STYLES.get(style, {})) for words, style in pieces)


def show_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows as an aligned table: words left, numbers right, control characters escaped."""
    names = [printable(name) for name in names]  # A pivot makes names of values.
    cells = [[_cell(value) for value in row] for row in rows]
    is_number = [
        all(_is_number(row[index]) or row[index] is None for row in rows)
        and any(row[index] is not None for row in rows)
        for index in range(len(names))
    ]
    widths = [
        max([len(name), *(len(row[index]) for row in cells)]) for index, name in enumerate(names)
    ]
    for row in (names, ["─" * width for width in widths], *cells):
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ]
        click.echo("  ".join(padded).rstrip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Decimal):
        return f"{value:,f}" if isinstance(value, Decimal) else f"{value:,}"
    if isinstance(value, bytes):
        return printable(value.decode(errors="backslashreplace"))
    return printable(str(value))


def printable(text: str) -> str:
    """Escape what could steer a terminal or reorder its text."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def size_of(size: float) -> str:
    """Return a size in bytes as people say it."""
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} B"


def sentence_of(run: Mapping[str, object]) -> str:
    """Return one line about a sync."""
    seconds = (int(str(run["ended_at"])) - int(str(run["started_at"]))) / 1e6
    files = counted(int(str(run["files"])), "file")
    if not run["is_committed"]:
        return f"nothing new in {files} · {seconds:.1f} s"
    entries = counted(int(str(run["entries"])), "new entry", "new entries")
    rejects = counted(int(str(run["rejects"])), "reject")
    return (
        f"synced {run['files_read']:,} of {files} · {size_of(int(str(run['bytes'])))}"
        f" · {entries} · {rejects} · {seconds:.1f} s"
    )


def show_status(found: Mapping[str, object]) -> None:
    """Print what `cclake status` found."""
    rows, last_run = found["rows"], found["last_run"]
    logs = (
        f"{counted(int(str(found['source_files'])), 'file')},"
        f" {size_of(int(str(found['log_bytes'])))} read,"
        f" {found['files_gone']:,} gone, {found['files_pending']:,} with a tail that waits"
    )
    said = [
        ("warehouse", f"{printable(str(found['warehouse']))}, commit {found['commit']}"),
        ("logs", logs),
        ("on disk", size_of(int(str(found["warehouse_bytes"])))),
    ]
    if isinstance(last_run, dict):
        said.append(("last run", f"{_instant(last_run['ended_at'])}: {sentence_of(last_run)}"))
        said += _problems_of(last_run)
    days = counted(int(str(found["cleanup_days"])), "day")
    said.append(("logs live", f"{days}, then Claude Code deletes them"))
    if found["advice"]:
        said.append(("advice", str(found["advice"])))
    if isinstance(rows, dict):
        said += [(name, f"{count:>11,}") for name, count in rows.items()]
    for name, words in said:
        click.echo(f"{name:<15} {words}")


def show_check(report: "Report") -> None:
    """Print what a check found, a line each, and what it looked at."""
    for one in report.findings:
        byte = "" if one.byte is None else f", byte {one.byte:,}"
        click.echo(f"{one.severity}: {printable(one.where)}{byte}: {printable(one.what)}")
    looked = [
        counted(report.commits, "commit"),
        counted(report.files, "file"),
        counted(report.entries, "entry", "entries"),
    ]
    if report.is_deep:
        looked.append(f"{counted(report.logs, 'log')}, {size_of(report.bytes)}")
    errors = sum(one.severity == "error" for one in report.findings)
    warnings = len(report.findings) - errors
    found = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    found = found if report.findings else "nothing is wrong"
    click.echo(f"checked {' · '.join(looked)}: {found}")
    if errors:
        say("hint: cclake repair mends what can be mended, and says what cannot")


def show_scope(scope: "Scope", *, is_done: bool) -> None:
    """Tell what is to be forgotten, or was, and what is left of it elsewhere."""
    if scope.is_empty():
        say("nothing to forget: no session, line or prompt is like that")
        return
    counts = {
        "session": len(scope.sessions),
        "file": scope.files,
        "line": scope.lines,
        "typed prompt": scope.prompts,
    }
    parts = [counted(count, name) for name, count in counts.items() if count]
    verb = f"forgotten in commit {scope.commit}, and no byte of it is left" if is_done else "to go"
    say(f"{verb}: {' · '.join(parts)}")
    for session, lines in scope.copies.items():
        kept = f"kept in session {printable(session)}, which says the same"
        say(f"{kept}: {counted(lines, 'line')}")
    for place in scope.traces:
        say(f"its name still stands in {printable(place)}")


def _problems_of(last_run: Mapping[str, Any]) -> list[tuple[str, str]]:
    told = [f"{printable(path)}: {printable(what)}" for path, what in last_run["problems"]]
    if not told:
        return []
    shown = [*told[:_PROBLEMS_SHOWN], *(["..."] if len(told) > _PROBLEMS_SHOWN else [])]
    return [("problems", f"{len(told):,} in the last run"), *(("", one) for one in shown)]


def show_repair(report: "Repair") -> None:
    """Print what was wrong, what was mended, what was read again, and what could not be had."""
    for name, told in (("wrong", report.wrong), ("mended", report.mended)):
        for where, what in told:
            click.echo(f"{name}: {printable(where)}: {printable(what)}")
    for path in report.again:
        click.echo(f"read again: {printable(path)}")
    for run in report.runs:
        click.echo(f"{printable(run.source)}: {sentence_of(asdict(run))}")
    for one in report.lost:
        much = f" ({counted(one.lines, 'line')}, {counted(one.bytes, 'byte')})"
        size = much if one.bytes else ""
        click.echo(f"lost: {printable(one.path)}: {printable(one.what)}{size}")
    for path, problem in report.problems:
        click.echo(f"{printable(path)}: {printable(problem)}")
    for words in report.asks:
        click.echo(f"not synced: {printable(words)}")
    click.echo(_end_of_repair(report))


def _end_of_repair(report: "Repair") -> str:
    if not report.wrong:
        return "nothing to repair"
    if report.is_dry:
        return "nothing was changed; without --dry-run, this is done"
    kept = f"; what is damaged lies in {report.damaged}" if report.damaged else ""
    done = "mended, but for what is lost" if report.lost else "all was mended"
    return f"{done}: commit {report.commit}{kept}"


def show_sessions(found: Sequence[Mapping[str, object]]) -> None:
    """Print sessions, a line each."""
    rows = [
        (
            str(one["session_id"])[:8],
            _minute(one["ended_at"]),
            one["turns"],
            one["output_tokens"],
            str(one["project"] or "").rpartition("/")[2],
            _shortened(str(one["title"] or "")),
        )
        for one in found
    ]
    show_table(["session", "ended", "turns", "output_tokens", "project", "title"], rows)


def show_bill(bill: "Bill") -> None:
    """Print how the cost of a response comes about, a line a component."""
    names = ["piece", "model", "priced as", "component", "units", "unit_usd", "share", "amount_usd"]
    columns = ("piece", "model", "price_model", "component", "units")
    numbers = ("unit_usd", "price_share", "amount_usd")
    show_table(
        names,
        [
            (*(line[name] for name in columns), *(_plain(line[name]) for name in numbers))
            for line in bill.lines
        ],
    )
    for piece in bill.pieces:
        told = (piece["model"], piece["cost_status"], piece["flags"])
        click.echo(printable(f"{piece['piece']}: {', '.join(str(one) for one in told if one)}"))
    total = "no price" if bill.cost_usd is None else f"{_plain(bill.cost_usd):f} USD"
    click.echo(f"{printable(bill.message_id)}: {total} at list price")


def _plain(amount: object) -> Decimal:
    """Return an amount without the zeros at its end."""
    return Decimal(str(amount)).normalize()


def show_cards(found: Sequence["ShownCard"]) -> None:
    """Print price cards, a line each."""
    rows = [
        (
            one.model,
            one.speed,
            one.valid_from,
            one.valid_to,
            one.prompt_over or None,
            *one.usd_per_million_tokens.values(),
            one.evidence,
        )
        for one in found
    ]
    named = ["model", "speed", "from", "to", "prompts over", *_PRICES, "evidence"]
    show_table(named, rows)


def show_explanation(found: "Explanation") -> None:
    """Print why a name is priced as it is, or is not."""
    prompt = f", a prompt of {counted(found.prompt_tokens, 'token')}"
    size = prompt if found.prompt_tokens else ""
    said = [
        ("name", found.name),
        ("means", f"{found.model}, {found.how}" if found.model else "nothing in the price book"),
        ("on", f"{found.day}, at {found.speed} speed{size}"),
    ]
    said += _said_of(found.card) if found.card else []
    for rule in found.multipliers:
        share = f"times {rule.multiplier}  " if rule.multiplier is not None else ""
        said.append((rule.rule, f"{share}{rule.why}"))
    said += [("remark", remark) for remark in found.remarks]
    if found.unpriced:
        said.append(("no price", found.unpriced))
    if found.closest:
        said.append(("closest", ", ".join(found.closest)))
    for name, words in said:
        click.echo(f"{name:<18} {printable(words)}")


def _said_of(card: "ShownCard") -> list[tuple[str, str]]:
    prices = {name: (price, "million") for name, price in card.usd_per_million_tokens.items()}
    prices["web_search"] = (card.usd_per_1000_searches, "thousand")
    width = max(len(f"{price:,}") for price, _ in prices.values() if price is not None)
    said = [("card", f"{card.provider}, {card.days()}")]
    for name, (price, many) in prices.items():
        words = "no price" if price is None else f"{price:>{width},} USD for a {many}"
        said.append((name, words))
    said.append(("source", f"{card.source} ({card.evidence})"))
    return [*said, ("note", card.note)] if card.note else said


def _minute(instant: object) -> str:
    return f"{instant:%Y-%m-%d %H:%M}" if isinstance(instant, datetime) else ""


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _TITLE_CHARS else f"{words[: _TITLE_CHARS - 1]}…"


def _instant(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros // 1_000_000, tz=UTC):%Y-%m-%d %H:%M:%S} UTC"
