"""Reading what a page holds."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any


def page_data(file: Path) -> Any:
    """The data inside a page."""
    found = re.search(r'id="data">([^<]*)</script>', file.read_text())
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))
