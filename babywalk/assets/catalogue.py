"""The catalogue of public data sets (source, licence, terms), and fetching them.

Every URL is defined here once, and each asset names the command that imports a copy obtained by other means.
The publishers give no checksums. No asset contains images.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from babywalk.assets.archives import unpack
from babywalk.assets.download import download
from babywalk.common.errors import ConfigError, DataError, unknown

Kind = Literal["file", "zip", "tar.gz"]


@dataclass(frozen=True, slots=True)
class Download:
    """One file to download, and the file or folder it becomes below the raw-data folder."""

    target: str
    addresses: tuple[str, ...]  # URLs, the publisher's first; tried in order
    kind: Kind = "file"
    inside: str = ""  # the folder of the archive to unpack; `*` matches one folder name
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Asset:
    """The files of one publisher under one licence."""

    name: str
    what: str
    downloads: tuple[Download, ...]
    size: int | None  # approximate bytes to download; None if unknown
    licence: str
    home: str  # the page that describes it, in case a URL is dead
    import_hint: str  # the command that imports a copy obtained by other means
    terms: str | None = None  # terms that the user must accept before the download


MATTERPORT_TERMS = (
    "Derived from Matterport3D, whose Terms of Use (kaldir.vc.in.tum.de/matterport/MP_TOS.pdf) apply: "
    "for non-commercial academic use only."
)

_RAW = "https://raw.githubusercontent.com"
_DROPBOX = "https://www.dropbox.com/s"
_FINE_GRAINED = f"{_RAW}/YicongHong/Fine-Grained-R2R/HEAD"
_MATTERPORT = f"{_RAW}/niessner/Matterport/HEAD"
_SPEAKER_FOLLOWER = f"{_RAW}/ronghanghu/speaker_follower/HEAD/tasks/R2R/data"
_R2R_KEYS = {
    "train": "hh5qec8o5urcztn",
    "val_seen": "8ye4gqce7v8yzdm",
    "val_unseen": "p6hlckr70a07wka",
    "test": "w4pnbwqamwzdwd1",
}

_ALL = (
    Asset(
        name="connectivity",
        what="navigation graphs of the 90 houses",
        downloads=(
            Download(
                target="connectivity",
                addresses=("https://github.com/peteanderson80/Matterport3DSimulator/archive/HEAD.tar.gz",),
                kind="tar.gz",
                inside="*/connectivity",
            ),
        ),
        size=None,
        licence="MIT",
        home="https://github.com/peteanderson80/Matterport3DSimulator",
        import_hint="babywalk data import --connectivity RAW DIR",
    ),
    Asset(
        name="r2r",
        what="Room-to-Room: paths and instructions",
        downloads=tuple(
            Download(
                target=f"R2R/R2R_{split}.json",
                addresses=(
                    f"{_DROPBOX}/{key}/R2R_{split}.json?dl=1",
                    f"{_FINE_GRAINED}/source/R2R-original/R2R_{split}.json",
                ),
            )
            for split, key in _R2R_KEYS.items()
        ),
        size=15_000_000,
        licence="MIT",
        home="https://github.com/YicongHong/Fine-Grained-R2R (folder source/R2R-original)",
        import_hint="babywalk data import --r2r RAW DIR",
    ),
    Asset(
        name="fine-grained",
        what="Fine-Grained R2R: which part of an instruction describes which part of the path",
        downloads=tuple(
            Download(
                target=f"fgr2r/FGR2R_{split}.json", addresses=(f"{_FINE_GRAINED}/data/FGR2R_{split}.json",)
            )
            for split in ("train", "val_seen", "val_unseen")
        ),
        size=None,
        licence="MIT",
        home="https://github.com/YicongHong/Fine-Grained-R2R",
        import_hint="babywalk data import --fine-grained RAW DIR",
    ),
    Asset(
        name="glove",
        what="GloVe vectors of the R2R vocabulary",
        downloads=tuple(
            Download(target=file, addresses=(f"{_SPEAKER_FOLLOWER}/{file}",))
            for file in ("train_vocab.txt", "train_glove.npy")
        ),
        size=1_200_000,
        licence="BSD-2-Clause",
        home="https://github.com/ronghanghu/speaker_follower",
        import_hint="babywalk data import --glove VOCAB NPY DIR",
    ),
    Asset(
        name="augmented",
        what="178,000 paths with instructions by a speaker model",
        downloads=(
            Download(
                target="augmented/R2R_literal_speaker_data_augmentation_paths.json",
                addresses=(
                    "https://people.eecs.berkeley.edu/~ronghang/projects/speaker_follower/data_augmentation/"
                    "R2R_literal_speaker_data_augmentation_paths.json",
                ),
            ),
        ),
        size=None,
        licence="BSD-2-Clause",
        home="https://github.com/ronghanghu/speaker_follower",
        import_hint="babywalk data import --r2r RAW DIR",
    ),
    Asset(
        name="boxes",
        what="REVERIE: objects around each viewpoint and their boxes",
        downloads=(
            Download(
                target="BBox",
                addresses=("https://github.com/YuankaiQi/REVERIE/archive/HEAD.tar.gz",),
                kind="tar.gz",
                inside="*/tasks/REVERIE/data/BBox",
            ),
        ),
        size=None,
        licence="Matterport3D Terms of Use",
        home="https://github.com/YuankaiQi/REVERIE",
        import_hint="babywalk data import --boxes RAW DIR",
        terms=MATTERPORT_TERMS,
    ),
    Asset(
        name="categories",
        what="the class of each object name",
        downloads=(
            Download(
                target="category_mapping.tsv", addresses=(f"{_MATTERPORT}/metadata/category_mapping.tsv",)
            ),
        ),
        size=200_000,
        licence="Matterport3D Terms of Use",
        home="https://github.com/niessner/Matterport",
        import_hint="babywalk data import --categories TSV DIR",
        terms=MATTERPORT_TERMS,
    ),
    Asset(
        name="rooms",
        what="the kind of room around 7,482 viewpoints",
        downloads=tuple(
            Download(
                target=f"rooms/{file}", addresses=(f"{_MATTERPORT}/tasks/region_classification/data/{file}",)
            )
            for split in ("train", "test")
            for file in (f"{split}_room_pano_image.txt", f"{split}_room_pano_label.txt")
        ),
        size=500_000,
        licence="Matterport3D Terms of Use",
        home="https://github.com/niessner/Matterport",
        import_hint="babywalk data import --rooms RAW DIR",
        terms=MATTERPORT_TERMS,
    ),
    Asset(
        name="semantic-features",
        what="semantic view features, four widths (1000, 152, 42, 42)",
        downloads=(
            Download(
                target="Sem_feats", addresses=(f"{_DROPBOX}/4ryg4jl75pypgl5/Sem_feats.zip?dl=1",), kind="zip"
            ),
        ),
        size=None,
        licence="Matterport3D Terms of Use",
        home="https://github.com/zhangybzbo/EnvBiasVLN",
        import_hint="babywalk data import --features TSV DIR",
        terms=MATTERPORT_TERMS,
    ),
    *(
        Asset(
            name=name,
            what=f"ResNet-152 view features, trained on {trained}",
            downloads=(
                Download(target=folder, addresses=(f"{_DROPBOX}/{key}/{folder}.zip?dl=1",), kind="zip"),
            ),
            size=2_900_000_000,
            licence="Matterport3D Terms of Use",
            home="https://github.com/peteanderson80/Matterport3DSimulator",
            import_hint="babywalk data import --features TSV DIR",
            terms=MATTERPORT_TERMS,
        )
        for name, trained, folder, key in (
            ("resnet-imagenet", "ImageNet", "ResNet-152-imagenet", "o57kxh2mn5rkx4o"),
            ("resnet-places", "Places365", "ResNet-152-places365", "85tpa6tc3enl5ud"),
        )
    ),
)

ASSETS = {asset.name: asset for asset in _ALL}


def asset(name: str) -> Asset:
    """The asset with this name."""
    if name not in ASSETS:
        raise unknown("Asset", name, ASSETS)
    return ASSETS[name]


def fetch(names: Sequence[str], folder: Path, *, accept_terms: bool) -> list[Path]:
    """Download the named assets into a folder of raw data, skipping what exists; returns all their paths."""
    return fetch_assets([asset(name) for name in names], folder, accept_terms=accept_terms)


def fetch_assets(assets: Iterable[Asset], folder: Path, *, accept_terms: bool) -> list[Path]:
    """Like `fetch`, for assets that need not be in the catalogue."""
    wanted = [(item, part) for item in assets for part in item.downloads]
    missing = [(item, part) for item, part in wanted if not (folder / part.target).exists()]
    if not accept_terms:
        _require_accepted_terms([item for item, _ in missing])
    for item, part in missing:
        _get(item, part, folder)
    return [folder / part.target for _, part in wanted]


def _require_accepted_terms(assets: Sequence[Asset]) -> None:
    terms: dict[str, list[str]] = {}
    for item in assets:
        if item.terms is not None:
            terms.setdefault(item.terms, []).append(item.name)
    if terms:
        listed = " ".join(f"{', '.join(dict.fromkeys(names))}: “{text}”" for text, names in terms.items())
        raise ConfigError(f"{listed} If you agree, add --accept-terms.")


def _get(item: Asset, part: Download, folder: Path) -> None:
    problems = []
    for address in part.addresses:
        try:
            return _get_from(address, part, folder / part.target)
        except DataError as problem:
            problems.append(str(problem))
    raise DataError(
        f"{' '.join(problems)} {item.name} ({item.what}) is described at {item.home}; "
        f"import a copy obtained by other means with '{item.import_hint}'."
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
        archive.unlink()  # so that the next call downloads it again
        raise
    archive.unlink()
    return None
