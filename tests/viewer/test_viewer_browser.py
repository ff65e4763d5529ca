"""The pages in a browser: what a person does with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from viewer_data import page_data

from babywalk.viewer.page import assemble

pytestmark = pytest.mark.slow

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> walk to the kitchen."
NARROW, WIDE = {"width": 360, "height": 740}, {"width": 1920, "height": 1080}


class Page:
    """An opened page, with everything that its console complained about."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, address: str) -> Any:
        self.page.goto(address)
        self.page.wait_for_selector("main .panel, main .notice")
        return self.page


@pytest.fixture
def opened(browser: Any) -> Iterator[Page]:
    with_errors = Page(browser.new_context(viewport={"width": 1280, "height": 900}))
    yield with_errors
    with_errors.context.close()
    assert with_errors.errors == []


def words(page: Any, selector: str) -> str:
    """The text of an element, without what is for screen readers only."""
    return re.sub(r"\s+", " ", page.inner_text(selector)).strip().replace("Baby-Step 1: ", "")


def test_the_file_shows_an_episode_plays_it_to_the_end_and_measures_it(opened: Page, page_file: Path) -> None:
    page = opened.open(page_file.as_uri())
    data = page_data(page_file)
    record = data["collections"]["r4r/val_seen"]["record"]
    page.select_option("aside .field:has-text('Data set') select", "r4r")
    page.wait_for_selector(f"h1:has-text('R4R val_seen {record['ids'][0]}')")
    page.fill("#search", record["texts"][5])
    page.click(f".episode:has-text('{record['ids'][5]}')")
    page.wait_for_selector(f"h1:has-text('R4R val_seen {record['ids'][5]}')")
    assert words(page, ".episodes").startswith(record["ids"][5])
    assert words(page, ".instruction").endswith(record["texts"][5].split(". ")[-1].strip())
    # Every Baby-Step, landmark and decision of the walk in focus is there.
    walk = data["collections"]["r4r/val_seen"]["episodes"][5]["walks"][1]
    assert page.locator(".instruction .step").count() == len(walk["steps"])
    assert page.locator(".instruction .landmark").count() > 0
    assert page.locator(".views td.door-way").count() > 0
    shown = page.locator(".actions li").count()
    assert shown == len(walk["decisions"][0][2])
    page.click(".pace")
    page.click(".pace")  # four times as fast
    page.click(".play")
    page.wait_for_selector(".play:has-text('Play')")
    steps = len(walk["decisions"])
    reached, end = map(int, words(page, ".clock").split(" / "))
    assert reached == end >= steps
    assert page.locator(".walk.lead .move.done").count() == steps
    sdtw = record["scores"]["dollhouse"][7][5]
    assert words(page, ".measures tr:has-text('SDTW') td:nth-child(2)") == f"{100 * sdtw:.1f}"
    assert {address.partition(":")[0] for address in opened.requests} <= {"file", "data"}


def test_a_link_shows_the_same_view_again(opened: Page, page_file: Path, browser: Any) -> None:
    page = opened.open(page_file.as_uri() + "#view=watch&task=r4r&split=val_seen&sort=words&order=down")
    page.keyboard.press("n")
    page.click(".entry button:has-text('random')")
    page.keyboard.press("ArrowRight")
    page.uncheck(".entry input >> nth=0")
    address, title = page.url, words(page, "h1")
    again = Page(browser.new_context())
    other = again.open(address)
    other.wait_for_selector(f"h1:has-text('{title}')")
    for selector in (".clock", ".instruction", ".legend", ".episodes", ".actions"):
        assert words(other, selector) == words(page, selector), selector
    assert not other.is_checked(".entry input >> nth=0")
    assert other.locator(".entry.focus").inner_text() == page.locator(".entry.focus").inner_text()
    again.context.close()


def test_episodes_are_filtered_and_sorted(opened: Page, page_file: Path) -> None:
    page = opened.open(page_file.as_uri())
    record = page_data(page_file)["collections"]["r2r/val_seen"]["record"]
    page.select_option(".sort select", "SDTW random")
    shown = [float(text.split()[-1]) for text in page.locator(".episodes .fact").all_inner_texts()]
    assert shown == sorted(shown)
    assert len(shown) == 12
    page.fill("[aria-label='Words at least']", "25")
    kept = page.locator(".episodes .id").all_inner_texts()
    assert set(kept) == {
        id_ for id_, count in zip(record["ids"], record["words"], strict=True) if count >= 25
    }
    page.fill("#search", "xyzzy")
    assert words(page, "aside [role=status]") == "0 of 12 episodes"


def test_agents_are_compared_and_a_difference_leads_to_its_walk(opened: Page, page_file: Path) -> None:
    page = opened.open(page_file.as_uri() + "#view=compare")
    page.wait_for_selector(".means")
    assert page.locator(".means tbody tr").count() == 4
    page.click(".means th:has-text('NE') button")
    values = [float(text) for text in page.locator(".means tbody td:nth-child(5)").all_inner_texts()]
    assert values == sorted(values)
    assert page.locator(".plot svg[role=img]").count() == 2
    page.select_option(".field:has-text('Measure') select", "NE")
    first = page.locator(".differences tbody th a").first
    name = first.inner_text()
    first.click()
    page.wait_for_selector(f"h1:has-text('{name}')")
    assert page.locator("nav [aria-current]").inner_text() == "Watch"


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["360 px", "1920 px"])
def test_nothing_is_wider_than_the_screen(browser: Any, page_file: Path, size: dict[str, int]) -> None:
    narrow = Page(browser.new_context(viewport=size, color_scheme="dark"))
    page = narrow.open(page_file.as_uri() + "#view=watch&task=r4r&split=val_seen")
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    for selector in (".play", ".time", ".measures", ".actions"):
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
    page.click("nav a:has-text('Compare')")
    page.wait_for_selector(".means")
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert narrow.errors == []
    narrow.context.close()


def test_the_keyboard_alone_is_enough(opened: Page, page_file: Path) -> None:
    page = opened.open(page_file.as_uri())
    keys = page.keyboard
    title = words(page, "h1")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert words(page, ".clock").startswith("2 /")
    keys.press("ArrowLeft")
    assert words(page, ".clock").startswith("1 /")
    keys.press("End")
    end = words(page, ".clock").split(" / ")
    assert end[0] == end[1]
    keys.press("Home")
    keys.press(" ")
    page.wait_for_selector(".play:has-text('Pause')")
    keys.press(" ")
    page.wait_for_selector(".play:has-text('Play')")
    keys.press("n")
    page.wait_for_function("title => document.querySelector('h1').textContent !== title", arg=title)
    keys.press("p")
    page.wait_for_selector(f"h1:has-text('{title}')")
    keys.press("/")
    keys.type("walk")
    assert page.input_value("#search") == "walk"
    keys.press("Escape")
    keys.press("3")
    page.wait_for_selector(".means")
    keys.press("?")
    page.wait_for_selector("dialog[open]")
    keys.press("Escape")
    keys.press("1")
    # The first stop of the tabulator key leads past the header; every control has a name.
    page.wait_for_selector(".stage")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, textarea, a')].filter((control) =>
            !(control.textContent.trim() || control.getAttribute('aria-label') || control.labels?.length))
            .map((control) => control.outerHTML)"""
    )
    assert unnamed == []


def test_hostile_texts_stay_texts(opened: Page, page_file: Path, tmp_path: Path) -> None:
    data = page_data(page_file)
    for collection in data["collections"].values():
        record = collection["record"]
        record["texts"] = [HOSTILE] * len(record["texts"])
        record["agents"] = [f"{name}{HOSTILE}" for name in record["agents"]]
        record["scores"] = {f"{name}{HOSTILE}": scores for name, scores in record["scores"].items()}
        for episode in collection["episodes"]:
            episode["text"] = HOSTILE
            for walk in episode["walks"][1:]:
                walk["agent"] += HOSTILE
    for house in data["houses"].values():
        house["labels"] = [HOSTILE] * len(house["labels"])
        for floor in house["floors"]:
            floor["rooms"] = [[HOSTILE, *room[1:]] for room in floor["rooms"]]
    data["catalogue"]["title"] = HOSTILE
    file = tmp_path / "hostile.html"
    file.write_text(assemble(HOSTILE, data))
    page = opened.open(file.as_uri())
    assert words(page, ".instruction") == HOSTILE
    page.keyboard.press("End")
    page.click("nav a:has-text('Compare')")
    page.wait_for_selector(".means")
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, header img").count() == 0


def test_the_policy_of_the_file_stops_other_scripts(browser: Any, page_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "changed.html"
    added = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    file.write_text(page_file.read_text().replace('<div id="app">', f'{added}<div id="app">'))
    changed = Page(browser.new_context())
    page = changed.open(file.as_uri())
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in error for error in changed.errors)
    changed.context.close()


def test_a_wrong_link_is_a_sentence(opened: Page, page_file: Path) -> None:
    page = opened.open(page_file.as_uri() + "#view=watch&task=r4r&split=val_seen&episode=none")
    assert "Episode none is not among" in words(page, "[role=alert]")
    page = opened.open(page_file.as_uri() + "#view=nothing&task=r9r")
    page.reload()
    page.wait_for_selector("[role=alert]")
    assert "There is no data set r9r here." in words(page, "[role=alert]")


def test_an_instruction_is_typed_cut_followed_and_edited(opened: Page, live: Any) -> None:
    page = opened.open(f"{live.address}#view=try&house=dollhouse_000")
    page.wait_for_selector(".map-base circle")
    before = words(page, ".try-form [role=status]")
    page.locator(".map").focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
        if words(page, ".try-form [role=status]") != before:
            break
    assert words(page, ".try-form [role=status]") != before
    circle = page.locator(".map-base circle.viewpoint").nth(5).bounding_box()
    page.mouse.click(circle["x"] + 2, circle["y"] + 2)
    assert "viewpoint d000-v005" in words(page, ".try-form [role=status]")
    page.fill("#heading", "90")
    page.fill("#instruction", "Walk past the couch. Go into the kitchen and stop by the table.")
    page.wait_for_selector(".cut:has-text('2 Baby-Steps')")
    assert page.locator(".preview .landmark").all_inner_texts() == ["couch", "kitchen", "table"]
    page.click(".run")
    page.wait_for_selector(".legend:has-text('dollhouse #1')")
    assert page.locator(".walk.lead .move").count() >= 2
    page.keyboard.press("Tab")
    page.click("[aria-label='One step forward']")
    assert words(page, ".clock").startswith("1 /")
    page.click("[aria-label='One step back']")
    page.fill("#instruction", "Leave the room and go to the bedroom.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".legend:has-text('dollhouse #2')")
    assert page.locator(".runs li").count() == 2
    page.check(".runs li >> nth=1 >> input")
    assert page.locator(".legend .entry").count() == 2
    page.click(".runs li >> nth=1 >> button")
    assert page.input_value("#instruction").startswith("Walk past the couch.")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".legend:has-text('dollhouse #1')")
    assert page.input_value("#instruction").startswith("Walk past the couch.")


def test_a_bad_instruction_is_a_sentence_on_the_page(opened: Page, live: Any) -> None:
    page = opened.open(f"{live.address}#view=try&house=dollhouse_000")
    page.fill("#instruction", "Xyzzy qwrtp.")
    page.click(".run")
    page.wait_for_selector("[role=alert]")
    assert "No word of the instruction is in the agent's vocabulary" in words(page, "[role=alert]")
    opened.errors[:] = [error for error in opened.errors if "422" not in error]
    page.fill("#instruction", HOSTILE)
    page.wait_for_selector(".cut:has-text('landmarks')")
    page.click(".run")
    page.wait_for_selector(".legend:has-text('dollhouse #1')")
    assert words(page, ".stage .instruction").endswith("walk to the kitchen.")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.getElementById('instruction').maxLength") == 2000


def test_the_live_page_watches_another_data_set(opened: Page, live: Any) -> None:
    page = opened.open(live.address)
    page.select_option("aside .field:has-text('Split') select", "val_unseen")
    page.wait_for_selector("h1:has-text('R2R val_unseen')")
    assert page.locator(".legend .entry").count() == 3
    page.click(".play")
    page.wait_for_selector(".walk.lead .move.done", state="attached")
