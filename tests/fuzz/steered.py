"""Fuzzing steered by coverage, in a process of its own: `python -m tests.fuzz.steered SECONDS`."""

import importlib
import sys
import traceback

atheris = importlib.import_module("atheris")
with atheris.instrument_imports(include=["etl", "json"]):
    from tests.fuzz.judge import Judge
    from tests.fuzz.lines import TOKENS, seeds
    from tests.fuzz.notes import FOLDER, noted

_LONGEST_LINE_BYTES = 20_000
_judge = Judge()
_seen: set[str] = set()


def _look_at(content: bytes) -> None:
    try:
        _judge.look_at(content)
    except Exception:  # noqa: BLE001 - whatever it is, it is found
        what = traceback.format_exc().splitlines()[-1]
        if what not in _seen:
            _seen.add(what)
            noted(content)


def main() -> None:
    """Fuzz for so many seconds; libFuzzer ends the process, with its own summary."""
    corpus, words = FOLDER / "corpus", FOLDER / "words"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, line in enumerate(seeds()):
        (corpus / f"seed-{number}").write_bytes(line)
    spelled = ("".join(f"\\x{byte:02x}" for byte in token) for token in TOKENS)
    words.write_text("".join(f'"{token}"\n' for token in spelled))
    limits = [f"-max_total_time={sys.argv[1]}", f"-max_len={_LONGEST_LINE_BYTES}"]
    shown = ["-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={FOLDER}/"]
    atheris.Setup([sys.argv[0], f"-dict={words}", *limits, *shown, str(corpus)], _look_at)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
