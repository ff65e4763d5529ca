"""Convert a model file of format 1 to format 2: python tools/convert_weights.py OLD.safetensors
NEW.safetensors

Only names changed: those of weights, settings and facts. Every number stays the same.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from babywalk.common.errors import DataError
from babywalk.common.weights import read_tensors, write_tensors
from babywalk.modules.model import FORMAT

OLD_FORMAT = "babywalk model 1"
WEIGHTS = (  # patterns of weight names, in format 1 and 2
    (r"^text\.vectors\.", "text.embedding."),
    (r"^first_state\.", "first_hidden."),
    (r"^trajectory\.actions\.", "trajectory.action_lstm."),
    (r"^trajectory\.look\.", "trajectory.view_attention."),
    (r"^trajectory\.states\.", "trajectory.view_lstm."),
    (r"\.forth\.", ".forward_lstm."),
    (r"\.back\.", ".backward_lstm."),
    (r"^memory\.told\.", "memory.instructions."),
    (r"^memory\.done\.", "memory.trajectories."),
    (r"^context\.", "context_mlp."),
    (r"^decoder\.look\.", "decoder.view_attention."),
    (r"^decoder\.read\.read\.", "decoder.word_attention.soft_dot."),
    (r"^decoder\.read\.", "decoder.word_attention."),
    (r"^decoder\.act\.mix\.0\.", "decoder.action_score.hidden."),
    (r"^decoder\.act\.mix\.3\.", "decoder.action_score.wanted."),
    (r"^decoder\.act\.", "decoder.action_score."),
    (r"^likeness\.worth\.", "lexical_match.kind_weights."),
    (r"^likeness\.", "lexical_match."),
)
SETTINGS = {"likeness": "lexical_match"}
FACTS = {"begun_from": "init_from"}


def weight_name(name: str) -> str:
    """The name in format 2 of a weight in format 1."""
    for old, new in WEIGHTS:
        name = re.sub(old, new, name)
    return name


def header(about: dict[str, Any]) -> dict[str, Any]:
    """The header in format 2."""
    policy = {SETTINGS.get(name, name): value for name, value in about["policy"].items()}
    facts = {FACTS.get(name, name): value for name, value in about["facts"].items()}
    return {**about, "format": FORMAT, "policy": policy, "facts": facts}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="a model.safetensors of format 1")
    parser.add_argument("new", type=Path, help="where to write it; may be the same file")
    options = parser.parse_args()
    try:
        tensors, about = read_tensors(options.old)
    except DataError as error:
        parser.exit(2, f"{error}\n")
    found = about.get("format") if isinstance(about, dict) else None
    if found != OLD_FORMAT:
        parser.exit(2, f"{options.old}: has the format {found!r}; this tool converts {OLD_FORMAT!r} only.\n")
    write_tensors(options.new, {weight_name(name): tensor for name, tensor in tensors.items()}, header(about))
    print(f"{options.new}: {len(tensors)} weights.")


if __name__ == "__main__":
    main()
