"""Damaged files: every file of a data directory, a run and a model is mutated in many ways.

A command that reads a damaged file either gives the result that it gives without the damage, or ends with
exit code 2 and one sentence. It never ends with a traceback, and never hangs.

Another result is allowed in three cases only, where no checksum can know the damage: raw files of other
publishers, a model whose checksum was removed (files of earlier versions have none), and a changed file that
was entered into its manifest. Then the content alone is checked.
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
from babywalk.common.files import sha256, signed

pytestmark = pytest.mark.slow

SEED = 21
# Seconds per command, for what computes without end and for what waits without end; the machine may be busy.
LIMITS = {signal.SIGPROF: (signal.ITIMER_PROF, 20), signal.SIGALRM: (signal.ITIMER_REAL, 600)}
NESTED = "[" * 100_000
DIGITS = "9" * 400
OTHERS: list[Any] = [None, True, -1, 0, 2**63, 1e300, "", "x", "\ud800", [], {}, [[]], {"a": 1}]
LITERALS = [NESTED, DIGITS, "NaN", "-Infinity", "1e999"]  # JSON that json.dumps does not write
MARK = "\x01replaced\x01"

Command = Callable[["World"], list[str]]


class HangError(BaseException):
    """A command that takes longer than a limit."""


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

    before = {number: signal.signal(number, stop) for number in LIMITS}
    for timer, seconds in LIMITS.values():
        signal.setitimer(timer, seconds)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        for number, (timer, _) in LIMITS.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
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


def resume(world: World, run: str) -> list[str]:
    """Resumes a fresh copy of a run."""
    copied = world.root / "resumed"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(world.root / run, copied)
    return ["train", "babywalk", "--data", str(world.data), "--run", str(copied), "--resume"]


def export(world: World, task: str, split: str) -> list[str]:
    """Exports a task with its Baby-Steps."""
    options = ["--split", split, "--steps", "--data", str(world.data)]
    return ["data", "export", task, *options, str(world.root / "out.json")]


def evaluate(world: World, model: Path, split: str = "val_seen") -> list[str]:
    """Evaluates a model."""
    options = ["--split", f"{split}:3", "--json", "--data", str(world.data), "--device", "cpu"]
    return ["evaluate", str(model), "--tasks", "r2r,r4r", *options]


def import_raw(world: World) -> list[str]:
    """Imports all raw files into a new directory."""
    shutil.rmtree(world.root / "imported", ignore_errors=True)
    raw, places = world.data / "raw", {"r2r": "R2R", "boxes": "BBox", "fine-grained": "fgr2r"}
    places |= {name: name for name in ("connectivity", "rooms")}
    options = [f"--{name}={raw / place}" for name, place in places.items()]
    options += [f"--categories={raw / 'category_mapping.tsv'}"]
    features = f"--features=dollhouse={raw / 'features' / 'dollhouse.tsv'}"
    return ["data", "import", "--json", *options, features, str(world.root / "imported")]


COMMANDS: dict[str, Command] = {
    "stats": lambda world: ["data", "stats", "--json", "--data", str(world.data)],
    "verify": lambda world: ["data", "verify", "--json", str(world.data)],
    "export": lambda world: export(world, "r4r", "val_seen"),
    "export train": lambda world: export(world, "r4r", "train"),
    "export r2r": lambda world: export(world, "r2r", "val_seen"),
    "export r2r train": lambda world: export(world, "r2r", "train"),
    "evaluate": lambda world: evaluate(world, world.run),
    "evaluate unseen": lambda world: evaluate(world, world.run, "val_unseen"),
    "evaluate best": lambda world: evaluate(world, world.run / "best" / "imitation.safetensors"),
    "import": import_raw,
    "segment": lambda world: [
        *["data", "segment", "--data", str(world.data), "--workers", "1", "--splits", "test", "--json"]
    ],
    "check": lambda world: [*["data", "segment", "--check", "val_seen", "--data", str(world.data), "--json"]],
    "draw": lambda world: [
        *["draw", str(world.root / "out.svg"), "--data", str(world.data), "--house", "dollhouse_000"]
    ],
    "resume": lambda world: resume(world, "interrupted"),
    "resume finished": lambda world: resume(world, "run"),
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
    written = [world.root / "out.json", world.root / "out.svg", world.root / "published" / "README.md"]
    if code == 0:
        out += "".join(file.read_text() for file in written if file.exists())
    if name.startswith("resume") and code == 0:
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


def damaged_header(content: bytes, random: np.random.Generator, *, checksum: bool) -> bytes:
    """A safetensors file whose header of BabyWalk was changed as JSON, with or without its checksum."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    about = json.loads(header["__metadata__"]["babywalk"])
    if not checksum:
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
        del about["sha256"]
        manifest.write_text(json.dumps(signed(about)))
        yield manifest


@dataclass
class Tally:
    """What was found."""

    mutations: int = 0
    refused: int = 0
    harmless: int = 0
    problems: list[str] = field(default_factory=list)


def attack(world: World, file: Path, name: str, count: int) -> Tally:
    """Mutate one file `count` times and run a command each time.

    Every third mutation of a file with a manifest is entered into it; every fourth one of a model takes the
    checksum away.
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
        lenient = name == "import"
        if file.suffix == ".json" and number % 2:
            file.write_bytes(damaged_json(content.decode(), random).encode("utf-8", "surrogatepass"))
        elif file.suffix == ".safetensors" and number % 2:
            lenient = number % 4 == 3
            file.write_bytes(damaged_header(content, random, checksum=not lenient))
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


# The command that reads a file most cheaply, and how many mutations.
DATA = {
    "connectivity/*": ("stats", 12),
    "r2r/*": ("stats", 24),
    "r4r/train/*": ("stats", 30),
    "r4r/val_unseen/*": ("stats", 10),
    "r[68]r/*/*": ("stats", 10),
    "sentences/train/*": ("stats", 24),
    "sentences/val_unseen/*": ("evaluate unseen", 10),
    "sentences/test/*": ("verify", 10),
    "r4r/val_seen/*": ("export", 80),
    "sentences/val_seen/*": ("export", 80),
    "babysteps/r4r/val_seen/*": ("export", 80),
    "babysteps/r4r/train/*": ("export train", 10),
    "babysteps/r2r/val_seen/*": ("export r2r", 10),
    "babysteps/r2r/train/*": ("export r2r train", 10),
    "cache/houses*": ("export", 60),
    "cache/sentences/*": ("segment", 12),
    "features/dollhouse/*": ("evaluate", 40),
    "features/objects/manifest.json": ("verify", 30),
    "fine_grained/*": ("verify", 6),
    "fine_grained/FGR2R_val_seen.json": ("check", 60),
    "plans/*": ("verify", 6),
    "plans/dollhouse_000.json": ("draw", 20),
    "raw/**/*": ("verify", 2),
    "raw/connectivity/dollhouse_000_connectivity.json": ("import", 12),
    "raw/R2R/R2R_val_seen.json": ("import", 12),
    "raw/fgr2r/FGR2R_val_seen.json": ("import", 12),
    "raw/features/dollhouse.tsv": ("import", 12),
    "raw/category_mapping.tsv": ("import", 12),
    "raw/rooms/train*": ("import", 12),
    "raw/BBox/*": ("import", 2),
    "features/objects/*": ("verify", 6),
}
RUN = {
    "run/model.safetensors": ("evaluate", 150),
    "run/best/*": ("evaluate best", 30),
    "run/last.safetensors": ("resume finished", 30),
    "run/config.json": ("publish", 40),
    "run/metrics.*": ("curves", 60),
    "run/versions.json": ("publish", 30),
    "run/result.json": ("publish", 30),
    "run/tensorboard/*": ("resume finished", 8),
    "run/.lock": ("resume finished", 2),
    "interrupted/last.safetensors": ("resume", 200),
    "interrupted/best/*": ("resume", 60),
    "interrupted/config.json": ("resume", 100),
    "interrupted/metrics.*": ("resume", 40),
    "interrupted/versions.json": ("resume", 8),
    "interrupted/tensorboard/*": ("resume", 8),
    "interrupted/.lock": ("resume", 2),
}
MANY_RAW = 30  # files under raw/, of hundreds of one kind
UNREAD = ("cache", "tensorboard", ".lock", "interrupted/versions.json")  # or, if damaged, made again


ALL = {**{f"data/{pattern}": how for pattern, how in DATA.items()}, **RUN}


def files_of(world: World, pattern: str) -> list[Path]:
    files = [file for file in sorted(world.root.glob(pattern)) if file.is_file()]
    return files[:: max(1, len(files) // MANY_RAW)]


def test_every_file_is_mutated(world: World) -> None:
    folders = [world.data, world.run, world.root / "interrupted"]
    files = {file for folder in folders for file in folder.rglob("*") if file.is_file()}
    assert files <= {file for pattern in ALL for file in world.root.glob(pattern)}


@pytest.mark.parametrize("pattern", ALL)
def test_a_damaged_file_is_refused_or_harmless(world: World, pattern: str) -> None:
    name, count = ALL[pattern]
    files = files_of(world, pattern)
    assert files
    found = [attack(world, file, name, count) for file in files]
    problems = [problem for tally in found for problem in tally.problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])
    assert sum(tally.refused + tally.harmless for tally in found) == count * len(files)
    assert any(tally.refused for tally in found) or any(name in pattern for name in UNREAD)


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
