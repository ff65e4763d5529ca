"""The page as one file: modules, style and data inside, under a content-security policy of hashes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from babywalk.episodes.dataset import Dataset
from babywalk.viewer.collection import MEASURE_NAMES, Collection
from babywalk.viewer.geometry import house_record

STATIC = Path(__file__).parent / "static"
# Each imports only modules before it.
MODULES = (
    "dom", "format", "source", "route", "walk", "map", "text", "panels", "stage", "compare", "try", "watch",
    "main",
)  # fmt: skip
MAX_TEXT = 2000  # characters of a typed instruction
MAX_AGENTS = 4  # that follow one instruction

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def catalogue(
    title: str,
    dataset: Dataset,
    agents: Mapping[str, bool],
    collections: Sequence[tuple[str, str, bool]],
) -> dict[str, Any]:
    """What a page offers, as JSON.

    `agents` tells of each whether it follows typed instructions; `collections` are tasks and splits, and
    whether the goals are published.
    """
    return {
        "title": title,
        "measures": list(MEASURE_NAMES),
        "houses": list(dataset.houses.scans),
        "agents": [{"name": name, "follows": follows} for name, follows in agents.items()],
        "collections": [{"task": task, "split": split, "goals": goals} for task, split, goals in collections],
        "limits": {"text": MAX_TEXT, "agents": MAX_AGENTS},
    }


def page(title: str, dataset: Dataset, collections: Sequence[Collection]) -> str:
    """A self-contained HTML page with the episodes of collections."""
    agents = dict.fromkeys((name for one in collections for name in one.walks), False)
    offered = [(one.task.name, one.task.split, one.task.walks.has_goals) for one in collections]
    episodes: dict[str, dict[str, Any]] = {
        f"{one.task.name}/{one.task.split}": {
            "record": one.record(),
            "episodes": [one.episode(number) for number in range(len(one.task))],
        }
        for one in collections
    }
    scans = dict.fromkeys(episode["house"] for one in episodes.values() for episode in one["episodes"])
    return assemble(
        title,
        {
            "catalogue": catalogue(title, dataset, agents, offered),
            "collections": episodes,
            "houses": {scan: house_record(dataset, scan) for scan in scans},
        },
    )


def assemble(title: str, data: Mapping[str, Any]) -> str:
    """The page around its data. The policy allows only the page's own script and style, and no request."""
    script, style = bundle(), read_static("style.css")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="app"><p class="notice" role="status">Loading …</p></div>
<noscript><p class="notice">This page needs JavaScript.</p></noscript>
<script type="application/octet-stream" id="data">{_packed(data)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


@cache
def bundle() -> str:
    """All modules as one, without imports and the word `export`: top-level names must be distinct."""
    sources = [read_static(f"{name}.js") for name in MODULES]
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources)


def read_static(name: str) -> str:
    """A file of the page."""
    return (STATIC / name).read_text(encoding="utf-8")


def encode(value: object) -> bytes:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _packed(data: Mapping[str, Any]) -> str:
    return base64.b64encode(gzip.compress(encode(data), mtime=0)).decode()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
