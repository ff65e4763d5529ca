"""Pages of a small data set with a learned agent, as a file and live, and a browser to open them."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from babywalk.commands.view import live_page, make_service, write_page
from babywalk.viewer.service import Service

AGENTS = [("", "dollhouse"), ("", "random")]  # the built-in model, whose numbers mean nothing in these houses
TASKS, SPLITS = ["r2r", "r4r"], ["val_seen"]
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="session")
def page_file(aligned_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page in a file; read-only."""
    pytest.importorskip("torch")
    file = tmp_path_factory.mktemp("page") / "walks.html"
    write_page(AGENTS, aligned_dollhouse, TASKS, SPLITS, file, limit=12)
    return file


@pytest.fixture(scope="session")
def service(aligned_dollhouse: Path) -> Service:
    """What a live page serves."""
    pytest.importorskip("torch")
    return make_service(AGENTS, aligned_dollhouse, ["r2r"], SPLITS, limit=12)


@dataclass(frozen=True)
class Live:
    """A page that is being served."""

    address: str
    service: Service


@pytest.fixture(scope="session")
def live(service: Service) -> Iterator[Live]:
    """A live page on a free port of loopback."""
    pytest.importorskip("uvicorn")
    page = live_page(service, port=0)
    thread = threading.Thread(target=page.run, daemon=True)
    thread.start()
    while not page.server.started:
        time.sleep(0.02)
    yield Live(page.address, service)
    page.server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium: install it from the system's packages, as in 'apt-get install chromium'")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield opened
        opened.close()
