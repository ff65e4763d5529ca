"""The software versions of a run."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from babywalk.common.version import __version__

_PACKAGES = ("numpy", "scipy", "torch", "spacy", "safetensors")


def versions() -> dict[str, str]:
    """The versions of all packages that can change a result."""
    found = {"babywalk": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
