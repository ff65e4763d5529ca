"""Fetching assets: terms, fallback URLs, archives; and the entries of the catalogue are valid."""

from __future__ import annotations

import io
import re
import tarfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from babywalk.assets import catalogue
from babywalk.assets.catalogue import ASSETS, MATTERPORT_TERMS, Asset, Download, asset, fetch, fetch_assets
from babywalk.common.errors import ConfigError, DataError

PAGE = b"<html>gone</html>"


def archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(autouse=True)
def _files(site: Any) -> None:
    site.files = {
        "/page": PAGE,
        "/words.txt": b"a\n",
        "/repo.tar.gz": archive({"repo-1/graphs/a.json": b"{}", "repo-1/README": b"x"}),
    }


def made(*downloads: Download, terms: str | None = None) -> Asset:
    return Asset(
        name="thing",
        what="a thing",
        downloads=downloads,
        size=None,
        licence="MIT",
        home="https://example.org",
        import_hint="babywalk data import --thing RAW DIR",
        terms=terms,
    )


def test_files_and_archives_are_fetched_once(site: Any, tmp_path: Path) -> None:
    words = Download("lists/words.txt", (f"{site.address}/words.txt",))
    graphs = Download("graphs", (f"{site.address}/repo.tar.gz",), "tar.gz", inside="*/graphs")
    paths = fetch_assets([made(words, graphs)], tmp_path, accept_terms=False)
    assert paths == [tmp_path / "lists" / "words.txt", tmp_path / "graphs"]
    assert sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    ) == [
        "graphs/a.json",
        "lists/words.txt",
    ]
    assert len(site.ranges) == 2
    assert fetch_assets([made(words, graphs)], tmp_path, accept_terms=False) == paths
    assert len(site.ranges) == 2  # existing targets are not fetched again


def test_the_next_address_is_tried_after_a_failure(site: Any, tmp_path: Path) -> None:
    addresses = tuple(f"{site.address}/{name}" for name in ("gone", "page", "words.txt"))
    fetch_assets([made(Download("words.txt", addresses))], tmp_path, accept_terms=False)
    assert (tmp_path / "words.txt").read_bytes() == b"a\n"


def test_all_failures_are_reported_when_every_address_is_dead(site: Any, tmp_path: Path) -> None:
    addresses = (f"{site.address}/gone", f"{site.address}/page")
    message = (
        f"{addresses[0]}: returned status 404 (Not Found); the link may be dead. "
        f"{addresses[1]}: returned a web page instead of the file; the link may be dead. "
        "thing (a thing) is described at https://example.org; "
        "import a copy obtained by other means with 'babywalk data import --thing RAW DIR'."
    )
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        fetch_assets([made(Download("words.txt", addresses))], tmp_path, accept_terms=False)


def test_a_broken_archive_is_removed(site: Any, tmp_path: Path) -> None:
    part = Download("graphs", (f"{site.address}/words.txt",), "tar.gz")
    with pytest.raises(DataError, match=r"graphs.tar.gz: is damaged or not a tar.gz archive"):
        fetch_assets([made(part)], tmp_path, accept_terms=False)
    assert not list(tmp_path.iterdir())


def test_terms_must_be_accepted_before_any_download(site: Any, tmp_path: Path) -> None:
    item = made(Download("words.txt", (f"{site.address}/words.txt",)), terms="Be good.")
    with pytest.raises(ConfigError, match=r"^thing: “Be good\.” If you agree, add --accept-terms\.$"):
        fetch_assets([replace(item, name="free", terms=None), item], tmp_path, accept_terms=False)
    assert not site.ranges  # nothing is fetched before the terms are accepted
    fetch_assets([item], tmp_path, accept_terms=True)
    fetch_assets([item], tmp_path, accept_terms=False)  # it exists: nothing to accept


def test_assets_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"Asset 'r2e' is not known\. Did you mean 'r2r'\? Choose from: "):
        fetch(["r2e"], tmp_path, accept_terms=True)
    with pytest.raises(ConfigError, match=re.escape(f"boxes, rooms: “{MATTERPORT_TERMS}”")):
        fetch(["connectivity", "boxes", "rooms"], tmp_path, accept_terms=False)
    asked = []
    monkeypatch.setattr(catalogue, "download", lambda address, *_, **__: asked.append(address))
    assert fetch(["categories"], tmp_path, accept_terms=True) == [tmp_path / "category_mapping.tsv"]
    assert asked == [
        "https://raw.githubusercontent.com/niessner/Matterport/HEAD/metadata/category_mapping.tsv"
    ]


@pytest.mark.parametrize("item", ASSETS.values(), ids=ASSETS)
def test_every_asset_is_complete(item: Asset) -> None:
    assert asset(item.name) is item
    assert item.what
    assert item.licence
    assert item.import_hint.startswith("babywalk data import --")
    assert (item.terms is not None) == item.licence.startswith("Matterport3D")
    for part in item.downloads:
        assert part.addresses
        assert all(address.startswith("https://") for address in part.addresses)
        assert all("?dl=1" in address for address in part.addresses if "dropbox" in address)
        assert not PurePosixPath(part.target).is_absolute()
        assert part.kind != "file" or not part.inside


def test_targets_are_unique() -> None:
    targets = [part.target for item in ASSETS.values() for part in item.downloads]
    assert len(set(targets)) == len(targets)
