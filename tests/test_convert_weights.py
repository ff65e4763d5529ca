"""Model files of format 1 are converted: only names change, and every number stays the same."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from square import square_model, square_observer, square_task

from babywalk.common.errors import DataError
from babywalk.common.weights import read_tensors, write_tensors
from babywalk.modules.config import CONTEXTS, DECODERS
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import FORMAT, Model, load_model, save_model

TOOL = Path(__file__).parents[1] / "tools" / "convert_weights.py"
OBSERVER = square_observer(square_task())
# Prefixes and parts of weight names in format 2 and what they were in format 1, in the order of replacement.
FORMAT_1 = {
    "text.embedding.": "text.vectors.",
    "first_hidden.": "first_state.",
    "trajectory.action_lstm.": "trajectory.actions.",
    "trajectory.view_attention.": "trajectory.look.",
    "trajectory.view_lstm.": "trajectory.states.",
    ".forward_lstm.": ".forth.",
    ".backward_lstm.": ".back.",
    "memory.instructions.": "memory.told.",
    "memory.trajectories.": "memory.done.",
    "context_mlp.": "context.",
    "decoder.view_attention.": "decoder.look.",
    "decoder.word_attention.soft_dot.": "decoder.read.read.",
    "decoder.word_attention.": "decoder.read.",
    "decoder.action_score.hidden.": "decoder.act.mix.0.",
    "decoder.action_score.wanted.": "decoder.act.mix.3.",
    "decoder.action_score.": "decoder.act.",
    "lexical_match.kind_weights.": "likeness.worth.",
    "lexical_match.": "likeness.",
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("convert_weights", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def convert(tool: ModuleType, patch: pytest.MonkeyPatch, old: Path, new: Path) -> None:
    patch.setattr(sys, "argv", ["convert_weights.py", str(old), str(new)])
    tool.main()


def write_format_1(file: Path, model: Model) -> None:
    """The file of a model as format 1 had it."""
    save_model(file, model)
    tensors, about = read_tensors(file, FORMAT)
    old = {}
    for name, tensor in tensors.items():
        for new_part, old_part in FORMAT_1.items():
            name = name.replace(new_part, old_part)
        old[name] = tensor
    assert len(old) == len(tensors)
    policy = {
        "likeness" if name == "lexical_match" else name: value for name, value in about["policy"].items()
    }
    facts = {"begun_from" if name == "init_from" else name: value for name, value in about["facts"].items()}
    write_tensors(file, old, {**about, "format": "babywalk model 1", "policy": policy, "facts": facts})


VARIANTS: list[dict[str, Any]] = [
    {"decoder": decoder, "memory": memory, "context": context}
    for decoder in DECODERS
    for memory in SUMMARIES
    for context in CONTEXTS
]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: " ".join(options.values()))
def test_converted_model_has_the_same_weights(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    model = square_model(OBSERVER, columns=("north door", "east door", "lamp"), lexical_match=4, **options)
    model.facts.update(agent="babywalk", init_from=[{"agent": "seq2seq"}])
    assert model.network.lexical_match is not None
    old, new = tmp_path / "old.safetensors", tmp_path / "new.safetensors"
    write_format_1(old, model)
    convert(tool, monkeypatch, old, new)
    found = load_model(new)
    assert found.config == model.config
    assert found.facts == model.facts
    weights = model.network.state_dict()
    assert found.network.state_dict().keys() == weights.keys()
    assert all(torch.equal(weights[name], weight) for name, weight in found.network.state_dict().items())


def test_model_can_be_converted_in_place(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, model = tmp_path / "model.safetensors", square_model(OBSERVER)
    write_format_1(file, model)
    convert(tool, monkeypatch, file, file)
    count = len(model.network.state_dict())
    assert capsys.readouterr().out == f"{file}: {count} weights.\n"
    assert len(load_model(file).network.state_dict()) == count


def test_format_1_is_refused_with_the_name_of_the_tool(tmp_path: Path) -> None:
    file = tmp_path / "old.safetensors"
    write_format_1(file, square_model(OBSERVER))
    with pytest.raises(DataError) as error:
        load_model(file)
    assert str(error.value) == (
        f"{file}: has the format 'babywalk model 1'; expected 'babywalk model 2'. It was written by another "
        "version of BabyWalk; tools/convert_weights.py converts models of format 1."
    )


@pytest.mark.parametrize("about", [{"format": "babywalk aligner 1"}, {"format": FORMAT}, {}])
def test_other_formats_are_not_converted(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    about: dict[str, str],
) -> None:
    old, new = tmp_path / "old.safetensors", tmp_path / "new.safetensors"
    write_tensors(old, {"a": torch.ones(1)}, about)
    with pytest.raises(SystemExit) as end:
        convert(tool, monkeypatch, old, new)
    assert end.value.code == 2
    assert capsys.readouterr().err == (
        f"{old}: has the format {about.get('format')!r}; this tool converts 'babywalk model 1' only.\n"
    )
    assert not new.exists()


def test_missing_file_is_reported(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        convert(tool, monkeypatch, tmp_path / "none.safetensors", tmp_path / "new.safetensors")
    assert end.value.code == 2
    assert capsys.readouterr().err == f"{tmp_path / 'none.safetensors'}: file not found.\n"
