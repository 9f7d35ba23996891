"""Install what the fault tests need from outside: on Debian as root; elsewhere say what is missing.

Run as `python -m tests.faults.gear`, by `make gear`.
"""

import os
import shutil
import subprocess
import sys

PACKAGES = {
    "faketime": "faketime",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mount": "mount",
    "strace": "strace",
    "unshare": "util-linux",
}
SYSTEM_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def missing() -> dict[str, str]:
    """Return the commands that are not here, each with the Debian package that has it."""
    return {
        command: package
        for command, package in PACKAGES.items()
        if shutil.which(command, path=SYSTEM_PATH) is None
    }


def install(packages: list[str]) -> None:
    """Install Debian packages, from wherever the machine gets its own."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    apt = shutil.which("apt-get", path=SYSTEM_PATH)
    assert apt
    for step in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *packages]):
        subprocess.run([apt, *step], env=environment, stdout=subprocess.DEVNULL, check=False)


def main() -> None:
    """Bring the gear; what is still missing is said, and its tests will say that they skip."""
    wanted = missing()
    if wanted and os.geteuid() == 0 and shutil.which("apt-get", path=SYSTEM_PATH):
        install(sorted(set(wanted.values())))
    for command, package in missing().items():
        words = f"missing: {command} (Debian package {package}); the tests that need it will skip"
        sys.stderr.write(f"{words}\n")
    if os.geteuid() != 0:
        sys.stderr.write("not root: the tests that mount file systems will skip\n")


if __name__ == "__main__":
    main()
