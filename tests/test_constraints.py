"""What `make` installs: the lock file, the constraints and this environment agree."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

CHECKOUT = Path(__file__).parents[1]


def constraints() -> dict[str, Version]:
    """The version of each package for this Python."""
    lines = (CHECKOUT / "constraints.txt").read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {
        canonicalize_name(one.name): Version(str(one.specifier).removeprefix("=="))
        for one in found
        if one.marker is None or one.marker.evaluate()
    }


def test_installed_packages_have_the_versions_of_the_constraints() -> None:
    pinned = constraints()
    installed = {canonicalize_name(one.metadata["Name"]): Version(one.version) for one in distributions()}
    other = {
        name: (str(version), str(pinned[name]))
        for name, version in installed.items()
        if name in pinned and version.public != pinned[name].public
    }
    assert other == {}
    assert len(installed.keys() & pinned.keys()) > 50


def test_the_lock_file_pins_every_package_of_the_constraints_with_a_hash() -> None:
    lines = (CHECKOUT / "requirements.lock").read_text().splitlines()[1:]
    locked = {}
    for line in lines:
        match = re.fullmatch(r"(\S+)==(\S+) --hash=sha256:[0-9a-f]{64}", line)
        assert match, line
        locked[canonicalize_name(match[1])] = match[2]
    assert "setuptools" in locked
    for name, version in locked.items():
        if name != "setuptools":  # builds the package; its version is free
            assert constraints()[name].public == version, name
