"""Damaged files: every file of a data directory, a run and a model is mutated in many ways.

A command that reads a damaged file either gives the result that it gives without the damage, or ends with
exit code 2 and one sentence. It never ends with a traceback, and never hangs.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import signal
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babywalk.cli import main
from babywalk.common.errors import BabyWalkError
from babywalk.common.files import sha256

pytestmark = pytest.mark.slow

SEED = 21
LIMIT = 20  # seconds per mutation
NESTED = "[" * 100_000
DIGITS = "9" * 400
OTHERS: list[Any] = [None, True, -1, 0, 2**63, 1e300, "", "x", "\ud800", [], {}, [[]], {"a": 1}]
LITERALS = [NESTED, DIGITS, "NaN", "-Infinity", "1e999"]  # JSON that json.dumps does not write
MARK = "\x01replaced\x01"

Command = Callable[["World"], list[str]]


class HangError(BaseException):
    """A command that takes longer than the limit."""


@dataclass
class World:
    """A data directory, a finished run, and a run that was interrupted before its last iteration."""

    root: Path
    expected: dict[str, tuple[int, str, str]] = field(default_factory=dict)  # by command: without damage

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def run(self) -> Path:
        return self.root / "run"


def call(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code and the output of a command, in this process."""
    out, err = io.StringIO(), io.StringIO()

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    from babywalk.training import imitation

    made = World(tmp_path_factory.mktemp("damaged"))
    data = str(made.data)
    quick = ["imitation.iterations=3", "imitation.batch=4", "reinforce.lectures=0", "validate_every=2"]
    quick += ["checkpoint_every=2", "validate_on=val_seen:4", "features=dollhouse", "averaging=0.5"]
    train = ["train", "babywalk", "--data", data, "--preset", "tiny", "--threads", "1", "--set", *quick]
    aligned = ["--splits", "train", "val_seen", "--method", "proportional"]
    for arguments in (
        ["data", "dollhouse", data, "--houses", "3"],
        ["data", "segment", "--data", data, "--workers", "1"],
        ["data", "align", "r2r", "r4r", "--data", data, *aligned],
        [*train, "--run", str(made.run)],
    ):
        code, _, err = call(arguments)
        assert code == 0, err
    real, calls = imitation.imitation_loss, iter(range(100))

    def interrupted(*arguments: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imitation, "imitation_loss", interrupted)
        assert call([*train, "--run", str(made.root / "interrupted")])[0] == 130
    (made.root / "interrupted" / "unproven.safetensors").rename(
        made.root / "interrupted" / "last.safetensors"
    )
    return made


def resume(world: World) -> list[str]:
    """Resumes a fresh copy of the interrupted run."""
    copied = world.root / "resumed"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(world.root / "interrupted", copied)
    return ["train", "babywalk", "--data", str(world.data), "--run", str(copied), "--resume"]


COMMANDS: dict[str, Command] = {
    "stats": lambda world: ["data", "stats", "--json", "--data", str(world.data)],
    "verify": lambda world: ["data", "verify", "--json", str(world.data)],
    "export": lambda world: [
        *["data", "export", "r4r", "--split", "val_seen", "--steps", "--data", str(world.data)],
        str(world.root / "out.json"),
    ],
    "evaluate": lambda world: [
        *["evaluate", str(world.run), "--tasks", "r2r,r4r", "--split", "val_seen:3", "--json"],
        *["--data", str(world.data), "--device", "cpu"],
    ],
    "segment": lambda world: [
        *["data", "segment", "--data", str(world.data), "--workers", "1", "--splits", "test", "--json"]
    ],
    "check": lambda world: [*["data", "segment", "--check", "val_seen", "--data", str(world.data), "--json"]],
    "draw": lambda world: [
        *["draw", str(world.root / "out.svg"), "--data", str(world.data), "--house", "dollhouse_000"]
    ],
    "resume": resume,
    "curves": lambda world: ["curves", str(world.run), "--out", str(world.root / "out.svg"), "--json"],
    "publish": lambda world: [
        *["publish", str(world.run), str(world.root / "published"), "--data", str(world.data), "--json"]
    ],
}


def result(world: World, name: str) -> tuple[int, str, str]:
    """The exit code of a command, its result as text (output and written files), and its errors."""
    for file in ("out.json", "out.svg"):
        (world.root / file).unlink(missing_ok=True)
    shutil.rmtree(world.root / "published", ignore_errors=True)
    code, out, err = call(COMMANDS[name](world))
    if name == "export" and code == 0:
        out += (world.root / "out.json").read_text()
    if name == "resume" and code == 0:
        out = sha256(world.root / "resumed" / "model.safetensors")
    return code, out, err


def damaged_bytes(content: bytes, random: np.random.Generator) -> bytes:
    """Bytes that were truncated, changed, extended or replaced."""
    kind = int(random.integers(8))
    if kind == 0:
        return b""
    if kind == 1:
        return content[: int(random.integers(len(content) or 1))]
    if kind == 2:
        return content + random.bytes(int(random.integers(1, 100)))
    if kind == 3:
        return [b"[]", b"{}", b"null", b'"x"', b"3", b"\xff\xfe\x00", NESTED.encode()][
            int(random.integers(7))
        ]
    if kind == 4:
        stored = io.BytesIO()
        np.save(
            stored, random.integers(0, 9, size=(3, 2)).astype(["<f8", "<i2", "|u1"][int(random.integers(3))])
        )
        return stored.getvalue()
    if kind == 5:
        return random.bytes(len(content))
    changed = bytearray(content)
    for _ in range(int(random.integers(1, 9))):
        if changed:
            # Half of them at the start, where the header of an array is.
            end = min(len(changed), 200) if kind == 6 else len(changed)
            changed[int(random.integers(end))] = int(random.integers(256))
    return bytes(changed)


def damaged_json(text: str, random: np.random.Generator) -> str:
    """JSON in which one value was removed, or replaced by another type, a huge number or deep nesting."""
    value = json.loads(text)
    parent, key = value, None
    while isinstance(parent, (dict, list)) and parent:
        keys = list(parent) if isinstance(parent, dict) else range(len(parent))
        key = keys[int(random.integers(len(keys)))]
        if not isinstance(parent[key], (dict, list)) or not parent[key] or random.random() < 0.3:
            break
        parent = parent[key]
    if key is None:
        return json.dumps(OTHERS[int(random.integers(len(OTHERS)))])
    kind = int(random.integers(len(OTHERS) + len(LITERALS) + 2))
    if kind < len(OTHERS):
        parent[key] = OTHERS[kind]
    elif kind < len(OTHERS) + len(LITERALS):
        parent[key] = MARK
        return json.dumps(value).replace(json.dumps(MARK), LITERALS[kind - len(OTHERS)])
    else:
        del parent[key]
    return json.dumps(value)


def damaged_header(content: bytes, random: np.random.Generator) -> bytes:
    """A safetensors file whose header of BabyWalk was changed as JSON, without its checksum."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    about = json.loads(header["__metadata__"]["babywalk"])
    del about["sha256"]
    header["__metadata__"]["babywalk"] = damaged_json(json.dumps(about), random)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def with_manifest(file: Path) -> Iterator[Path]:
    """Enter a changed file into its manifest, so that its own reader must find the damage."""
    manifest = file.parent / "manifest.json"
    if manifest.is_file() and manifest != file:
        about = json.loads(manifest.read_text())
        about["files"][file.name] = {"bytes": file.stat().st_size, "sha256": sha256(file)}
        manifest.write_text(json.dumps(about))
        yield manifest


@dataclass
class Tally:
    """What was found."""

    mutations: int = 0
    refused: int = 0
    harmless: int = 0
    problems: list[str] = field(default_factory=list)


def attack(world: World, file: Path, name: str, count: int, *, strict: bool = True) -> Tally:
    """Mutate one file `count` times and run a command each time.

    Every third mutation of a file with a manifest is entered into it; then, and unless `strict`, a command
    that succeeds may give another result.
    """
    random = np.random.default_rng([SEED, *str(file.relative_to(world.root)).encode(), *name.encode()])
    if name not in world.expected:
        world.expected[name] = result(world, name)
        assert world.expected[name][0] == 0, world.expected[name]
    _, wanted, notices = world.expected[name]
    tally, content = Tally(), file.read_bytes()
    manifest = file.parent / "manifest.json"
    kept = manifest.read_bytes() if manifest.is_file() else None
    for number in range(count):
        lenient = not strict
        if file.suffix == ".json" and number % 2:
            file.write_bytes(damaged_json(content.decode(), random).encode("utf-8", "surrogatepass"))
        elif file.suffix == ".safetensors" and number % 2:
            file.write_bytes(damaged_header(content, random))
            lenient = True
        else:
            file.write_bytes(damaged_bytes(content, random))
        if number % 3 == 2 and name != "verify":
            lenient |= bool(list(with_manifest(file)))
        what = f"{file.relative_to(world.root)}, mutation {number}, {name}"
        try:
            code, out, err = result(world, name)
        except (Exception, HangError) as error:  # every traceback is a finding
            tally.problems.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")
        else:
            err = err.removeprefix(notices)
            sentence = err.startswith("babywalk: ") and err.count("\n") == 1 and len(err) < 1000
            if code == 2 and sentence:
                tally.refused += 1
            elif code == 0 and (lenient or out == wanted):
                tally.harmless += 1
            else:
                tally.problems.append(f"{what}: exit code {code}, another result; {err[-300:]!r}")
        tally.mutations += 1
        file.write_bytes(content)
        if kept is not None and manifest != file:
            manifest.write_bytes(kept)
    return tally


# The command that reads a file most cheaply, how many mutations, and whether its result must be the same.
DATA = {
    "connectivity/*": ("stats", 12, True),
    "r2r/*": ("stats", 24, True),
    "r4r/train/*": ("stats", 30, True),
    "r[68]r/train/*": ("stats", 10, True),
    "sentences/train/*": ("stats", 24, True),
    "r4r/val_seen/*": ("export", 80, True),
    "sentences/val_seen/*": ("export", 80, True),
    "babysteps/r4r/val_seen/*": ("export", 80, True),
    "cache/houses*": ("export", 60, True),
    "cache/sentences/*": ("segment", 12, True),
    "features/dollhouse/*": ("evaluate", 40, True),
    "features/objects/manifest.json": ("verify", 30, True),
    "fine_grained/*": ("verify", 6, True),
    "fine_grained/FGR2R_val_seen.json": ("check", 60, True),
    "plans/*": ("verify", 6, True),
    "plans/dollhouse_000.json": ("draw", 20, True),
    "raw/**/*": ("verify", 2, True),
    "features/objects/*": ("verify", 6, True),
}
RUN = {
    "run/model.safetensors": ("evaluate", 150, True),
    "run/config.json": ("publish", 40, True),
    "run/metrics.csv": ("curves", 30, False),
    "run/versions.json": ("publish", 30, False),
    "run/result.json": ("publish", 30, False),
    "interrupted/last.safetensors": ("resume", 200, True),
    "interrupted/best/*": ("resume", 60, True),
    "interrupted/config.json": ("resume", 100, True),
    "interrupted/metrics.csv": ("resume", 40, True),
}
MANY_RAW = 30  # files under raw/, of hundreds of one kind


ALL = {**{f"data/{pattern}": how for pattern, how in DATA.items()}, **RUN}


def files_of(world: World, pattern: str) -> list[Path]:
    files = [file for file in sorted(world.root.glob(pattern)) if file.is_file()]
    return files[:: max(1, len(files) // MANY_RAW)] if "raw" in pattern else files


@pytest.mark.parametrize("pattern", ALL)
def test_a_damaged_file_is_refused_or_harmless(world: World, pattern: str) -> None:
    name, count, strict = ALL[pattern]
    files = files_of(world, pattern)
    assert files
    found = [attack(world, file, name, count, strict=strict) for file in files]
    problems = [problem for tally in found for problem in tally.problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])
    assert sum(tally.refused + tally.harmless for tally in found) == count * len(files)
    assert any(tally.refused for tally in found) or "cache" in pattern


def test_at_least_two_thousand_mutations_are_tried(world: World) -> None:
    assert sum(ALL[pattern][1] * len(files_of(world, pattern)) for pattern in ALL) >= 2000


@pytest.fixture(scope="module")
def loaders(world: World) -> dict[str, Callable[[], object]]:
    """Small untrained models as components, and what loads each of them."""
    import torch

    from babywalk.episodes.dataset import Dataset
    from babywalk.instructions.alignment.aligner import Aligner, AlignerConfig, load_aligner, new_matcher
    from babywalk.instructions.alignment.features import Lexicon
    from babywalk.instructions.landmarks.classifier import (
        LandmarkClassifier,
        LandmarkConfig,
        LandmarkModel,
        load_landmarks,
    )
    from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary
    from babywalk.modules.speaker import SpeakerConfig, load_speaker, new_speaker

    torch.manual_seed(0)
    folder, dataset = world.root / "models", Dataset(world.data)
    scale = np.ones(7, dtype=np.float32)
    align, words = AlignerConfig(width=8, hidden=9), Lexicon(("bed", "chair"))
    Aligner(align, words, "dollhouse", scale, new_matcher(align, words, 7)).save(folder / "aligner")
    classify, names = LandmarkConfig(channels=8, hidden=9), LandmarkVocabulary(("bed", "chair"))
    classifier = LandmarkClassifier(7, 2, channels=8, hidden=9)
    LandmarkModel(classify, names, "dollhouse", scale, classifier).save(folder / "landmarks")
    speak, vocabulary = SpeakerConfig(hidden=8), dataset.vocabulary()
    vectors = np.zeros((len(vocabulary), 6), dtype=np.float32)
    new_speaker(speak, vocabulary, vectors, "dollhouse", dataset).save(folder / "speaker")
    return {
        "aligner": lambda: load_aligner(folder / "aligner"),
        "landmarks": lambda: load_landmarks(folder / "landmarks"),
        "speaker": lambda: load_speaker(folder / "speaker", dataset),
    }


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("name", ["aligner", "landmarks", "speaker"])
def test_a_damaged_model_of_the_data_directory_is_refused(
    world: World, loaders: dict[str, Callable[[], object]], name: str, signed: bool
) -> None:
    """With `signed`, the damaged file is entered into the manifest; then it may be valid."""
    random = np.random.default_rng([SEED, signed])
    loaders[name]()
    for file in sorted((world.root / "models" / name).iterdir()):
        content, manifest = file.read_bytes(), file.parent / "manifest.json"
        kept = manifest.read_bytes()
        for number in range(40):
            if file.suffix == ".json" and number % 2:
                file.write_bytes(damaged_json(content.decode(), random).encode("utf-8", "surrogatepass"))
            else:
                file.write_bytes(damaged_bytes(content, random))
            changed = file.read_bytes() != content and file != manifest
            if signed:
                list(with_manifest(file))
            try:
                loaders[name]()
                message = None
            except BabyWalkError as error:
                message = str(error)
            assert signed or message or not changed, f"{file}, mutation {number}"
            assert message is None or str(file.parent) in message
            file.write_bytes(content)
            manifest.write_bytes(kept)
