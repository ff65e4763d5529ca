"""The documentation names files, links, commands, settings and imports that exist."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from babywalk.cli import build_parser
from babywalk.training.config import (
    AugmentedConfig,
    ImitationConfig,
    PolicyConfig,
    ReinforceConfig,
    TrainingConfig,
)

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CARDS = sorted([*ROOT.glob("weights/*/README.md"), *ROOT.glob("babywalk/weights/*/README.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
PARTS = {
    "policy": PolicyConfig,
    "augmented": AugmentedConfig,
    "imitation": ImitationConfig,
    "reinforce": ReinforceConfig,
}
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"\b(?:babywalk|benchmarks|docs|recipes|tests|tools)/[\w/.-]+\.(?:py|toml|md)\b")
FOLDER = re.compile(r"\b(?:babywalk|recipes)/[\w/-]+/(?=`)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
SETTING = re.compile(rf"(?<![\w/])({'|'.join(PARTS)})\.([a-z_]+)")


@pytest.fixture(params=PAGES, ids=NAMES)
def page(request: pytest.FixtureRequest) -> Path:
    return request.param


def commands(text: str) -> Iterator[list[str]]:
    """The words of every `babywalk ...` command in code blocks and in code spans."""
    blocks = [body for language, body in BLOCK.findall(text) if not language]
    spans = re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    for code in [*(block.replace("\\\n", " ") for block in blocks), *spans]:
        for line in re.split(r"\n|&&|; ", code):
            words = shlex.split(line, comments=True)
            if words[:1] == ["babywalk"] and len(words) > 1:
                yield words[1:]


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of all its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                yield from parsers(nested)


def problem(words: list[str]) -> str | None:
    """What the parser does not know about a command; None where it knows everything."""
    parser: argparse.ArgumentParser = build_parser()
    while nested := [act for act in parser._actions if isinstance(act, argparse._SubParsersAction)]:
        if words[0] in parser._option_string_actions:
            break
        if words[0] not in nested[0].choices:
            return f"{parser.prog} has no command {words[0]!r}"
        parser, words = nested[0].choices[words[0]], words[1:]
        if not words:
            return None
    unknown = [w for w in words if w.startswith("--") and w not in parser._option_string_actions]
    return f"{parser.prog} has no option {unknown[0]}" if unknown else None


def assigned(words: list[str]) -> list[str]:
    """The names that `babywalk train ... --set` assigns."""
    return [word.partition("=")[0] for word in words if re.match(r"[a-z_.]+=", word)]


def is_setting(name: str) -> bool:
    part, _, field = name.rpartition(".")
    kind = PARTS.get(part) if part else TrainingConfig
    return kind is not None and field in {each.name for each in dataclasses.fields(kind)}


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_files_exist(page: Path) -> None:
    text = page.read_text()
    named = {*FILE.findall(text), *FOLDER.findall(text)}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in LINK.findall(BLOCK.sub("", page.read_text())):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_commands_and_options_are_known_to_the_parser(page: Path) -> None:
    found = {" ".join(words): problem(words) for words in commands(page.read_text())}
    assert {command: wrong for command, wrong in found.items() if wrong} == {}


def test_commands_in_help_and_model_cards_are_known_to_the_parser() -> None:
    examples = [f"```\n{parser.epilog}\n```" for parser in parsers(build_parser())]
    found = [words for text in [*examples, *(card.read_text() for card in CARDS)] for words in commands(text)]
    assert len(found) > 50
    assert [" ".join(words) for words in found if problem(words)] == []


def test_settings_exist(page: Path) -> None:
    text = page.read_text()
    names = {f"{part}.{field}" for part, field in SETTING.findall(text)}
    for words in commands(text):
        if words[0] == "train":
            names |= set(assigned(words))
    assert [name for name in sorted(names) if not is_setting(name)] == []


def test_imports_of_python_examples_resolve(page: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    for language, body in BLOCK.findall(page.read_text()):
        for node in ast.walk(ast.parse(body)) if language == "python" else []:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("babywalk"):
                module = importlib.import_module(node.module or "")
                assert [each.name for each in node.names if not hasattr(module, each.name)] == []


def test_a_wrong_command_is_found() -> None:
    lines = [
        "babywalk data speak --data x",
        "babywalk evaluate random \\\n --on r2r && babywalk data fetch  # list",
    ]
    text = "```\n" + "\n".join(lines) + "\n```"
    assert [problem(words) for words in commands(text)] == [
        "babywalk data has no command 'speak'",
        "babywalk evaluate has no option --on",
        None,
    ]


def test_every_page_is_linked_from_the_readme_or_from_the_page_of_its_folder() -> None:
    for page in PAGES[1:]:
        parent = page.parent.with_suffix(".md") if page.parent != ROOT / "docs" else PAGES[0]
        assert str(page.relative_to(parent.parent)) in LINK.findall(parent.read_text()), page
