"""Many faults in one warehouse: each has a project's folder of its own, and rows by that."""

from collections import defaultdict
from pathlib import Path

from etl.step import RunSummary
from tests.sessions import Line, assistant, rows, user

Rows = list[tuple[int, str]]  # generation and text


def project_of(number: int) -> str:
    """Name the folder of a fault, four characters long."""
    return f"-p{number:02d}"


def prompts(project: str, *texts: str | bytes) -> list[Line | bytes]:
    """Prompts with these texts; each has a uuid of its own, bytes are as they are."""
    return [t if isinstance(t, bytes) else user(t, f"{project} {t[:9]}") for t in texts]


def log_of(project: str, *texts: str | bytes) -> list[Line | bytes]:
    """A log with one response of its own, which no rewrite and no copy may count again."""
    answer = assistant(uuid=f"a{project}", message_id=f"m{project}", request=f"r{project}")
    return [answer, *prompts(project, *texts)]


def texts_of(lake: Path) -> dict[str, Rows]:
    """Return the physical rows by project, sorted; answers left out."""
    found: dict[str, Rows] = defaultdict(list)
    sql = """
    select left(path, 4), b.generation, b.text
    from raw.content_blocks as b join source_files using (file_id)
    where b.text <> 'Done.' order by b.generation, b.text
    """
    for project, generation, text in rows(lake, sql):
        found[project].append((generation, text))
    return found


def events_of(run: RunSummary, project: str) -> list[str]:
    """Return what a run told of a project."""
    return [what for path, what in run.events if f"/{project}" in f"/{path}"]


def problems_of(run: RunSummary, project: str) -> list[str]:
    """Return what a run could not read of a project."""
    return [what for path, what in run.problems if f"/{project}" in f"/{path}"]
