"""What the rules of the house allow. A module is named as in the map: a stem, or a folder."""

import re

LONGEST_FILE = 400
LONGEST_FUNCTION = 60

VAGUE = frozenset({"data", "handler", "helper", "helpers", "info", "manager", "util", "utils"})

# One library a boundary: a new major release of one touches the modules beside its name.
LIBRARY_MODULES: dict[str, frozenset[str]] = {
    "click": frozenset({"cli", "output"}),
    "duckdb": frozenset(
        {"answers", "check", "compare", "derive", "engine", "forget", "reading", "restore"}
        | {"search", "sessions", "shell", "views"}
    ),
    "orjson": frozenset({"chain", "demo", "jsontext", "parse"}),
    "polars": frozenset({"answers", "frames"}),
    "pyarrow": frozenset(
        {"answers", "around", "build", "check", "content", "derive", "facts", "ledger", "mend"}
        | {"omit", "pipeline", "pricing", "reading", "repair", "rewrite", "runs", "salvage"}
        | {"shelf", "step", "tables", "traces", "views", "write"}
    ),
    "xxhash": frozenset({"hashing"}),
}

# Pure modules see neither files nor clocks: paths and time come in as arguments.
PURE = frozenset(
    {"cards", "content", "conversation", "jsontext", "normalise", "parse", "parts", "prices"}
    | {"redact", "resume", "tables"}
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
    "check": frozenset({"commit", "derive", "views", "write"}),
    "compare": frozenset({"parse", "read"}),
    "around": frozenset({"normalise", "parse", "read"}),
    "build": frozenset({"read", "derive", "write"}),
    "pipeline": STAGES,
    "tasks": frozenset({"commit"}),
    "facts": frozenset({"parse", "normalise"}),
    "peek": frozenset({"parse", "read"}),
    "answers": frozenset({"commit", "views"}),
    "bill": frozenset({"commit", "views"}),
    "frames": frozenset({"commit", "views"}),
    "restore": frozenset({"commit", "views", "write"}),
    "client": frozenset({"commit", "views"}),
    "reading": frozenset({"commit", "views"}),
    "shell": frozenset({"commit", "views"}),
    "rewrite": frozenset({"parse", "write"}),
    "repair": frozenset({"commit", "derive", "write"}),
    "salvage": frozenset({"commit", "write"}),
    "sessions": frozenset({"commit", "views"}),
    "step": frozenset({"commit", "views", "write"}),
    "status": frozenset({"commit", "views"}),
    "normalise": frozenset({"parse"}),
    "views": frozenset({"commit"}),
    "commit": frozenset({"write"}),
    "forget": frozenset({"commit", "views", "write"}),
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
