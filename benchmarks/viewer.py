"""The live page under load, and its animation: python benchmarks/viewer.py --data demo/data.

Clients on loopback ask for stored episodes and, one time in ten, let an agent follow a fresh instruction; the
server is a process of its own. With --frames, Chromium plays an episode of the largest house instead.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from babywalk.commands.view import write_page
from babywalk.episodes.dataset import Dataset

ROOMS = ("kitchen", "bedroom", "hallway", "living room", "bathroom", "dining room", "office")
THINGS = ("couch", "table", "bed", "door", "chair", "lamp", "plant")
FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
SECONDS_OF_FRAMES = 10


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="data directory")
    parser.add_argument("--agent", default="dollhouse", help="run, model or built-in agent")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between answer and next request")
    parser.add_argument("--frames", action="store_true", help="measure the animation instead")
    options = parser.parse_args()
    if options.frames:
        frames(options.data)
    else:
        load(options)


def load(options: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "babywalk", "view", options.agent, "--data", str(options.data)]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            found = re.search(r"http://\S+", server.stdout.readline() if server.stdout else "")
            if not found:
                raise SystemExit("The server did not start.")
            times, errors, seconds = asyncio.run(ask(found[0], options))
        finally:
            server.terminate()
    print(f"{options.clients} clients, {seconds:.0f} s, pause {options.pause:g} s; {errors} errors")
    for kind, each in sorted(times.items()):
        quantiles = statistics.quantiles(each, n=100)
        print(
            f"{kind:<14} {len(each):>7,} answers  median {1000 * statistics.median(each):>5.0f} ms  "
            f"95 % {1000 * quantiles[94]:>5.0f} ms  99 % {1000 * quantiles[98]:>5.0f} ms"
        )


async def ask(address: str, options: argparse.Namespace) -> tuple[dict[str, list[float]], int, float]:
    """Answer times by kind of request, the number of errors, and how long it took."""
    limits = httpx.Limits(max_connections=options.clients)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        catalogue = (await client.get("api/catalogue")).json()
        first = catalogue["collections"][0]
        place = f"{first['task']}/{first['split']}"
        record = (await client.get(f"api/collections/{place}")).json()
        houses = {}
        for number in sorted(set(record["houses"])):
            scan = catalogue["houses"][number]
            houses[scan] = (await client.get(f"api/houses/{scan}")).json()["names"]
        agent = next(one["name"] for one in catalogue["agents"] if one["follows"])
        times: dict[str, list[float]] = defaultdict(list)
        errors = 0
        begin = time.monotonic()

        async def visit(number: int) -> None:
            nonlocal errors
            draw = random.Random(number)
            await asyncio.sleep(draw.random() * options.pause)
            while time.monotonic() - begin < options.seconds:
                fresh = draw.random() < 0.1
                start = time.perf_counter()
                if fresh:
                    answer = await client.post("api/follow", json=order(draw, houses, agent))
                else:
                    answer = await client.get(f"api/episodes/{place}/{draw.choice(record['ids'])}")
                times["fresh" if fresh else "stored"].append(time.perf_counter() - start)
                errors += answer.status_code != 200
                await asyncio.sleep(options.pause)

        await asyncio.gather(*(visit(number) for number in range(options.clients)))
        return times, errors, time.monotonic() - begin


def order(draw: random.Random, houses: dict[str, list[str]], agent: str) -> dict[str, Any]:
    """An instruction of two sentences from anywhere in a house."""
    scan = draw.choice(list(houses))
    text = (
        f"Walk past the {draw.choice(THINGS)} and enter the {draw.choice(ROOMS)}. "
        f"Turn left and stop by the {draw.choice(THINGS)}."
    )
    return {
        "house": scan,
        "viewpoint": draw.choice(houses[scan]),
        "heading": draw.randrange(360),
        "text": text,
        "agents": [agent],
    }


def frames(data: Path) -> None:
    from playwright.sync_api import sync_playwright

    dataset = Dataset(data)
    sizes = np.diff(dataset.houses.first)
    largest = int(sizes.argmax())
    scan = dataset.houses.scans[largest]
    split = next(one for one in dataset.splits if (houses_of(dataset, one) == largest).any())
    size = len(dataset.task("r2r", split))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "walks.html"
        write_page([("", "random"), ("", "oracle")], data, ["r2r"], [split], file, limit=size)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(f"{file.as_uri()}#view=watch&task=r2r&split={split}&house={scan}")
        page.wait_for_selector(".play")
        page.click(".pace")
        seconds = page.evaluate(COUNT_FRAMES, SECONDS_OF_FRAMES)
        browser.close()
    gaps = np.diff(seconds)
    print(
        f"{scan}, {sizes[largest]} viewpoints, 1920x1080: {1 / gaps.mean():.0f} frames per second, "
        f"95 % of gaps below {1000 * np.quantile(gaps, 0.95):.0f} ms"
    )


def houses_of(dataset: Dataset, split: str) -> Any:
    task = dataset.task("r2r", split)
    return dataset.houses.house_of[task.paths.firsts]


# Plays again and again, and gives the times of all frames.
COUNT_FRAMES = """async (seconds) => {
    const play = document.querySelector('.play');
    const times = [];
    const begin = performance.now();
    return new Promise((done) => {
        const tick = (now) => {
            times.push(now / 1000);
            if (play.textContent === 'Play') play.click();
            if (performance.now() - begin > seconds * 1000) done(times);
            else requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
    });
}"""


if __name__ == "__main__":
    main()
