"""Wheels of other packages, read as the archives they are. Nothing is installed or imported."""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def wheel_of(package: str, version: str | None, folder: Path | None) -> Iterator[Path]:
    """Find a package's wheel in a folder; without one, download it for as long as it is read."""
    if folder is not None:
        yield _found(package, version, folder)
        return
    with tempfile.TemporaryDirectory() as passing:
        requirement = f"{package}=={version}" if version else package
        # Where packages come from is for the settings of the machine to say.
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--only-binary", ":all:", "--dest", passing]
        subprocess.run([*pip, "download", *options, requirement], check=True)
        yield _found(package, version, Path(passing))


def _found(package: str, version: str | None, folder: Path) -> Path:
    wanted = f"{package.replace('-', '_')}-{version or '*'}-*.whl"
    wheels = sorted(folder.glob(wanted))
    if len(wheels) != 1:
        raise FileNotFoundError(f"{folder} has {len(wheels)} wheels {wanted}, not one")
    return wheels[0]


def version_of(wheel: Path) -> str:
    """Return the version of a wheel, which is the second word of its name."""
    return wheel.name.split("-")[1]


def text_in(wheel: Path, ending: str) -> str:
    """Return the text of the file in a wheel whose path ends so."""
    with zipfile.ZipFile(wheel) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith(ending)]
        return archive.read(path).decode()
