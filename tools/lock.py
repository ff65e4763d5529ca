"""Write requirements.lock: every package that `make` installs, with the SHA-256 of its file.

    python tools/lock.py

Versions are those of constraints.txt; hashes are those of the files that the package index serves for this
Python and platform. Run it after constraints.txt has changed.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
LOCK = CHECKOUT / "requirements.lock"


def report() -> list[dict[str, Any]]:
    """What pip would install into an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--report", str(file), "-c", "constraints.txt", "setuptools>=77", ".[dev]"]
        subprocess.run(command, cwd=CHECKOUT, check=True)
        installed: list[dict[str, Any]] = json.loads(file.read_text())["install"]
        return installed


def line(package: dict[str, Any]) -> str:
    """A line of the lock file, in pip's format."""
    metadata, download = package["metadata"], package["download_info"]
    version = str(metadata["version"]).partition("+")[0]  # a local build satisfies its public version
    return f"{metadata['name']}=={version} --hash=sha256:{download['archive_info']['hashes']['sha256']}"


def main() -> None:
    packages = [package for package in report() if "dir_info" not in package["download_info"]]
    python = ".".join(platform.python_version_tuple()[:2])
    head = (
        f"# What `make` installs on CPython {python}, {platform.system()} {platform.machine()}, with hashes. "
        "Written by tools/lock.py from constraints.txt."
    )
    LOCK.write_text("\n".join([head, *sorted(map(line, packages), key=str.lower)]) + "\n")
    print(f"{LOCK.name}: {len(packages)} packages.")


if __name__ == "__main__":
    main()
