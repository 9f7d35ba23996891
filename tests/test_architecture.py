"""The shape of the code, kept true by reading its syntax trees. Each failure names its rule."""

import ast
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PACKAGE = TOP / "etl"

# ---- What the rules allow. A module is named as in the map: a file's stem, or a package's folder.

LONGEST_FILE = 400
LONGEST_FUNCTION = 60

VAGUE = frozenset({"data", "handler", "helper", "helpers", "info", "manager", "util", "utils"})

# One library a boundary: a new major release of one touches the modules beside its name.
LIBRARY_MODULES: dict[str, frozenset[str]] = {
    "click": frozenset({"cli", "output"}),
    "duckdb": frozenset({"answers", "derive", "restore", "sessions", "views"}),
    "orjson": frozenset({"commit", "demo", "jsontext", "parse"}),
    "polars": frozenset({"answers", "frames"}),
    "pyarrow": frozenset(
        {"answers", "around", "build", "derive", "facts", "ledger", "pipeline", "pricing", "runs"}
        | {"tables", "views", "write"}
    ),
    "xxhash": frozenset({"hashing"}),
}

# Pure modules see neither files nor clocks: paths and time come in as arguments.
PURE = frozenset(
    {"cards", "jsontext", "normalise", "parse", "parts", "prices", "redact", "resume", "tables"}
)
PURE_MAY_IMPORT = PURE | {"errors", "hashing"}
IMPURE_LIBRARIES = frozenset({"io", "os", "pathlib", "shutil", "subprocess", "tempfile", "time"})
CLOCKS = frozenset({"now", "today", "utcnow"})

# Stages do not import each other sideways. A module that STAGE_IMPORTS does not name may import
# no other stage if it is one, and one stage at most if it is not. Imports for types are free.
STAGES = frozenset(
    {"discover", "resume", "read", "parse", "normalise", "derive", "write", "commit", "views"}
)
STAGE_IMPORTS: dict[str, frozenset[str]] = {
    "cli": STAGES,
    "around": frozenset({"normalise", "parse", "read"}),
    "build": frozenset({"read", "derive", "write"}),
    "pipeline": STAGES,
    "tasks": frozenset({"commit"}),
    "facts": frozenset({"parse", "normalise"}),
    "peek": frozenset({"parse", "read"}),
    "answers": frozenset({"commit", "views"}),
    "bill": frozenset({"commit", "views"}),
    "restore": frozenset({"commit", "views"}),
    "sessions": frozenset({"commit", "views"}),
    "status": frozenset({"commit", "views"}),
    "normalise": frozenset({"parse"}),
    "views": frozenset({"commit"}),
    "commit": frozenset({"write"}),
}

# What `cclake --help` must not wait for.
HEAVY_LIBRARIES = frozenset({"duckdb", "polars", "pyarrow"})
HEAVY_MODULES = LIBRARY_MODULES["pyarrow"] | {"frames"}

# Their strings are the text of made-up logs, in which people do leave such notes.
LOG_WRITERS = frozenset({"demo"})
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|NotImplementedError)\b")
# Spelled so that this file passes its own test.
REGISTRY = re.compile(r"pypi[.]org|files[.]pythonhosted|registry[.]npmjs")
HOME = re.compile(r"/(?:home|Users)/(\w[\w.-]*)")
MADE_UP_PEOPLE = frozenset({"ada", "dev", "me", "user", "you"})
NOT_OURS = re.compile(r"\.(?!ci$).*|__pycache__|.*\.egg-info|build|dist|node_modules")

# ---- Reading the package.

SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_of(path: Path) -> str:
    """Name the module as the map does: etl/normalise/usage.py belongs to normalise."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


MODULES = sorted({module_of(path) for path in SOURCES} - {"__init__"})


@dataclass(frozen=True, slots=True)
class Import:
    name: str  # full and dotted, also when it was written relative
    line: int
    for_types: bool  # under `if TYPE_CHECKING:`
    on_call: bool  # inside a function

    @property
    def library(self) -> str:
        return self.name.split(".")[0]

    @property
    def module(self) -> str | None:
        """The module of this package that is imported, if one is."""
        package, *rest = self.name.split(".")
        return rest[0] if package == "etl" and rest and rest[0] in MODULES else None


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def shown(path: Path, line: int | None = None) -> str:
    name = path.relative_to(TOP).as_posix()
    return name if line is None else f"{name}:{line}"


def imports_of(path: Path) -> list[Import]:
    folder = ("etl", *path.relative_to(PACKAGE).parts[:-1])
    return list(imports_below(tree_of(path), folder, for_types=False, on_call=False))


def imports_below(
    node: ast.AST, folder: tuple[str, ...], *, for_types: bool, on_call: bool
) -> Iterator[Import]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for name in imported_names(node, folder):
            yield Import(name, node.lineno, for_types, on_call)
    for_types |= isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    on_call |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for child in ast.iter_child_nodes(node):
        yield from imports_below(child, folder, for_types=for_types, on_call=on_call)


def imported_names(node: ast.Import | ast.ImportFrom, folder: tuple[str, ...]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    above = folder[: len(folder) - node.level + 1] if node.level else ()
    prefix = ".".join((*above, *filter(None, [node.module])))
    return [f"{prefix}.{alias.name}" for alias in node.names]


def names_bound_by(node: ast.stmt) -> Iterator[str]:
    """Names that a statement at module level gives to the module."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def does_nothing(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Pass | ast.Continue)


def is_vague(name: str) -> bool:
    """Tell `data`, `_helpers`, `do_things`, `SessionManager` from names that say the thing."""
    last_word = re.split(r"(?<=[a-z])(?=[A-Z])", name.strip("_"))[-1].lower()
    return last_word in VAGUE or name.strip("_").startswith("do_")


def committed_texts() -> Iterator[tuple[Path, str]]:
    """Every file a person would commit, as text; bytes that are no text count for nothing."""
    for folder, folders, names in os.walk(TOP):
        folders[:] = sorted(name for name in folders if not NOT_OURS.fullmatch(name))
        for path in (Path(folder, name) for name in sorted(names)):
            yield path, path.read_text(encoding="utf-8", errors="ignore")


def own_words(path: Path) -> list[tuple[int, str]]:
    """Numbered lines of a file; of a log writer only comments and names."""
    if path.is_relative_to(PACKAGE) and module_of(path) in LOG_WRITERS:
        with path.open("rb") as source:
            tokens = list(tokenize.tokenize(source.readline))
        return [
            (t.start[0], t.string) for t in tokens if t.type in {tokenize.COMMENT, tokenize.NAME}
        ]
    return list(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))


def fail_if_any(broken: list[str], rule: str) -> None:
    if broken:
        pytest.fail("\n  ".join([f"rule: {rule}", *broken]), pytrace=False)


# ---- Size and names.


def test_no_file_is_longer_than_a_person_can_hold() -> None:
    paths = [*SOURCES, *(TOP / "tests").rglob("*.py")]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    fail_if_any(
        [f"{shown(path)} has {n} lines" for path, n in lengths.items() if n > LONGEST_FILE],
        f"a file has at most {LONGEST_FILE} lines; split it by subject",
    )


def test_no_function_is_longer_than_a_screen() -> None:
    functions = [
        (path, node, (node.end_lineno or node.lineno) - node.lineno + 1)
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    fail_if_any(
        [
            f"{shown(path, node.lineno)} {node.name} has {length} lines"
            for path, node, length in functions
            if length > LONGEST_FUNCTION
        ],
        f"a function has at most {LONGEST_FUNCTION} lines and one job",
    )


def test_names_say_the_thing() -> None:
    vague_files = [shown(path) for path in SOURCES if VAGUE & set(path.stem.split("_"))]
    vague_names = [
        f"{shown(path, node.lineno)} {name}"
        for path in SOURCES
        for node in tree_of(path).body
        for name in names_bound_by(node)
        if is_vague(name)
    ]
    fail_if_any(
        vague_files + vague_names, f"no module, function or variable is called {sorted(VAGUE)}"
    )


# ---- Who may import what.


@pytest.mark.parametrize("library", LIBRARY_MODULES)
def test_a_library_stays_behind_its_boundary(library: str) -> None:
    allowed = LIBRARY_MODULES[library]

    fail_if_any(
        [
            shown(path, found.line)
            for path in SOURCES
            if module_of(path) not in allowed
            for found in imports_of(path)
            if found.library == library
        ],
        f"only {sorted(allowed)} import {library} (LIBRARY_MODULES)",
    )


def test_pure_modules_import_neither_files_nor_clocks() -> None:
    fail_if_any(
        [
            f"{shown(path, found.line)} imports {found.name}"
            for path in SOURCES
            if module_of(path) in PURE
            for found in imports_of(path)
            if not found.for_types
            if found.library in IMPURE_LIBRARIES or (found.module or "parse") not in PURE_MAY_IMPORT
        ],
        "a pure module imports only pure ones; paths and time come in as arguments (PURE)",
    )


def test_pure_modules_neither_open_files_nor_read_a_clock() -> None:
    calls = [
        (path, node.lineno, ast.unparse(node.func))
        for path in SOURCES
        if module_of(path) in PURE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
    ]
    fail_if_any(
        [
            f"{shown(path, line)} calls {called}"
            for path, line, called in calls
            if called == "open" or ("." in called and called.rsplit(".")[-1] in CLOCKS)
        ],
        "a pure module gives the same answer for the same arguments (PURE)",
    )


def test_stages_do_not_import_each_other_sideways() -> None:
    broken = []
    for module in MODULES:
        imported = {
            found.module
            for path in SOURCES
            if module_of(path) == module
            for found in imports_of(path)
            if found.module in STAGES - {module} and not found.for_types
        }
        allowed = STAGE_IMPORTS.get(module, frozenset())
        one_is_fine = module not in STAGES and module not in STAGE_IMPORTS and len(imported) == 1
        if not (imported <= allowed or one_is_fine):
            broken.append(f"{module} imports {sorted(filter(None, imported - allowed))}")

    fail_if_any(broken, "only the pipeline knows the order of the stages (STAGE_IMPORTS)")


def test_the_command_line_imports_nothing_heavy_before_a_command_runs() -> None:
    fail_if_any(
        [
            f"{shown(path, found.line)} imports {found.name}"
            for path in SOURCES
            if module_of(path) == "cli"
            for found in imports_of(path)
            if not (found.for_types or found.on_call)
            if found.library in HEAVY_LIBRARIES or found.module in HEAVY_MODULES
        ],
        "cli imports heavy modules inside its commands, so that --help is quick",
    )


def test_help_waits_for_no_heavy_library() -> None:
    script = "import sys, etl.cli; print(*sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=TOP, check=True, capture_output=True, text=True
    ).stdout.split()

    fail_if_any(
        sorted(HEAVY_LIBRARIES.intersection(loaded)),
        "`import etl.cli` loads none of these, also not through another module",
    )


# ---- The map, the tests, and what must not be there.


def test_the_map_lists_every_module_and_no_other() -> None:
    docstring = ast.get_docstring(tree_of(PACKAGE / "__init__.py")) or ""

    listed = set(re.findall(r"^ +(\w+)(?:\.py|/)?  +\S", docstring, flags=re.MULTILINE))

    fail_if_any(
        [f"{name} is missing" for name in sorted(set(MODULES) - listed)]
        + [f"{name} does not exist" for name in sorted(listed - set(MODULES))],
        "etl/__init__.py's docstring maps the package: indented `name  what it does`, a line each",
    )


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_its_tests(module: str) -> None:
    tests = TOP / "tests"

    is_tested = (tests / f"test_{module.strip('_')}.py").exists() or any(
        (tests / module).glob("test_*.py")
    )

    if not is_tested:
        fail_if_any(
            [module], f"etl/{module} has tests/test_{module}.py or tests/{module}/test_*.py"
        )


def test_no_error_is_swallowed() -> None:
    fail_if_any(
        [
            shown(path, node.lineno)
            for path in SOURCES
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.ExceptHandler)
            if all(does_nothing(step) for step in node.body)
        ],
        "no silent loss: count it, keep it or raise it, never `except: pass` or `continue`",
    )


def test_nothing_is_left_unfinished() -> None:
    fail_if_any(
        [
            f"{shown(path, number)} {line.strip()}"
            for path in [*SOURCES, *sorted((TOP / "sql").rglob("*.sql"))]
            for number, line in own_words(path)
            if UNFINISHED.search(line)
        ],
        "what is here works; what does not is an issue, not a note in the code",
    )


def test_no_file_names_a_package_registry() -> None:
    fail_if_any(
        [shown(path) for path, text in committed_texts() if REGISTRY.search(text)],
        "packages come from wherever the machine's own settings say; name no registry",
    )


def test_no_file_outside_the_tests_names_a_home_directory() -> None:
    homes = [
        (path, match)
        for path, text in committed_texts()
        if path.relative_to(TOP).parts[0] != "tests"
        for match in HOME.finditer(text)
    ]
    fail_if_any(
        [f"{shown(path)} {m[0]}" for path, m in homes if m[1] not in MADE_UP_PEOPLE],
        f"no real person's directory; made-up people are {sorted(MADE_UP_PEOPLE)}",
    )
