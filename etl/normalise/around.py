"""The files around the logs: typed prompts, the index of a project, Claude Code's statistics."""

from datetime import date

from etl.jsontext import dumps
from etl.normalise.fields import (
    JsonObject,
    count_at,
    fits,
    kinds_below,
    names_below,
    rest_of_counts,
    text_at,
)
from etl.normalise.instants import is_canonical, micros_of
from etl.tables import DAILY_STATS, PROMPT_HISTORY, SESSION_INDEX, Table

Row = dict[str, object]
_LAST_MILLISECOND = 253_402_300_799_999  # of the year 9999


def prompt_of(line: JsonObject) -> Row:
    """Return the columns of one line of `history.jsonl`."""
    row, rest = _lifted(line, PROMPT_HISTORY)
    stamp = line.get("timestamp")
    if isinstance(stamp, int) and fits(stamp) and 0 <= stamp <= _LAST_MILLISECOND:
        row["occurred_at"] = stamp * 1000
        del rest["timestamp"]
    return _with_payload(row, rest)


def session_index_of(document: JsonObject) -> list[Row]:
    """Return a row for every session in a `sessions-index.json`, and one for the rest of it."""
    entries = document.get("entries")
    listed = entries if isinstance(entries, list) else []
    rows = {
        str(one["sessionId"]): _indexed(one)
        for one in listed
        if isinstance(one, dict) and text_at(one, "sessionId")
    }
    odd = [one for one in listed if not (isinstance(one, dict) and text_at(one, "sessionId"))]
    rest = {key: value for key, value in document.items() if key != "entries" or value != listed}
    return [*rows.values(), *_rest_row(rest | ({"entries": odd} if odd else {}))]


def daily_stats_of(document: JsonObject) -> list[Row]:
    """Return a row for every day in a `stats-cache.json`, and one for the rest of it."""
    rows: dict[date, Row] = {}
    rest = dict(document)
    for key in ("dailyActivity", "dailyModelTokens"):
        days = document.get(key)
        if not isinstance(days, list):
            continue
        odd = [one for one in days if not _add_day(rows, key, one)]
        del rest[key]
        if odd:
            rest[key] = odd
    return [*(_day_row(day, row) for day, row in rows.items()), *_rest_row(rest)]


def _indexed(entry: JsonObject) -> Row:
    row, rest = _lifted(entry, SESSION_INDEX)
    for column, key in (("created_at", "created"), ("modified_at", "modified")):
        stamp = text_at(entry, key)
        row[column] = micros_of(stamp) if stamp is not None else None
        if stamp is not None and row[column] is not None and is_canonical(stamp):
            del rest[key]
    return _with_payload(row, rest)


def _add_day(rows: dict[date, Row], key: str, entry: object) -> bool:
    """Add what one list says of one day; False if it names no day."""
    day = _day_of(text_at(entry, "date")) if isinstance(entry, dict) else None
    if day is None or not isinstance(entry, dict):
        return False
    row = rows.setdefault(day, {})
    row |= {name: count_at(entry, path) for path, name in _DAY_NAMES.items() if path in entry}
    rest = {name: value for name, value in rest_of_counts(entry, _DAY).items() if name != "date"}
    if isinstance(rest.get("tokensByModel"), dict):
        row["tokens_by_model"] = dumps(rest.pop("tokensByModel"))
    if rest:
        row["rest"] = {**_object_at(row, "rest"), key: rest}
    return True


def _day_row(day: date, row: Row) -> Row:
    return _with_payload({"day": day, **row}, _object_at(row, "rest"))


def _day_of(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def _lifted(object_: JsonObject, table: Table) -> tuple[Row, JsonObject]:
    kinds = kinds_below(table)
    rest = rest_of_counts(object_, kinds)
    names = names_below(table)
    return {names[key]: object_[key] for key in object_ if key in kinds and key not in rest}, rest


def _rest_row(rest: JsonObject) -> list[Row]:
    return [_with_payload({}, rest)] if rest else []


def _with_payload(row: Row, rest: JsonObject) -> Row:
    row.pop("rest", None)
    return {**row, "payload": dumps(rest) if rest else None}


def _object_at(row: Row, name: str) -> JsonObject:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


_DAY, _DAY_NAMES = kinds_below(DAILY_STATS), names_below(DAILY_STATS)
