"""Fetching assets: what is there is left alone, terms are accepted first, every address is tried in turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from babywalk.assets.archives import unpack
from babywalk.assets.catalogue import Asset, Download, asset
from babywalk.assets.download import download
from babywalk.common.errors import ConfigError, DataError


def fetch(names: Sequence[str], folder: Path, *, accept_terms: bool) -> list[Path]:
    """Download the named assets into a folder of raw data; the files and folders they are, old and new."""
    return fetch_assets([asset(name) for name in names], folder, accept_terms=accept_terms)


def fetch_assets(assets: Iterable[Asset], folder: Path, *, accept_terms: bool) -> list[Path]:
    """The same for assets that need not be in the catalogue."""
    wanted = [(item, part) for item in assets for part in item.downloads]
    missing = [(item, part) for item, part in wanted if not (folder / part.target).exists()]
    if not accept_terms:
        _refuse_terms([item for item, _ in missing])
    for item, part in missing:
        _get(item, part, folder)
    return [folder / part.target for _, part in wanted]


def _refuse_terms(assets: Sequence[Asset]) -> None:
    terms: dict[str, list[str]] = {}
    for item in assets:
        if item.terms is not None:
            terms.setdefault(item.terms, []).append(item.name)
    if terms:
        told = " ".join(f"{', '.join(dict.fromkeys(names))}: “{text}”" for text, names in terms.items())
        raise ConfigError(f"{told} If you agree, add --accept-terms.")


def _get(item: Asset, part: Download, folder: Path) -> None:
    problems = []
    for address in part.addresses:
        try:
            return _get_from(address, part, folder / part.target)
        except DataError as problem:
            problems.append(str(problem))
    raise DataError(
        f"{' '.join(problems)} {item.name} ({item.what}) is described at {item.home}; "
        f"a copy got by other means is taken by '{item.import_hint}'."
    )


def _get_from(address: str, part: Download, target: Path) -> None:
    if part.kind == "file":
        return download(address, target, checksum=part.sha256)
    archive = target.with_name(f"{target.name}.{part.kind}")
    if not archive.exists():
        download(address, archive, checksum=part.sha256)
    try:
        unpack(archive, target, kind=part.kind, inside=part.inside)
    except DataError:
        archive.unlink()  # only a new download can mend it
        raise
    archive.unlink()
    return None
