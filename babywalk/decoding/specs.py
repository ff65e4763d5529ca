"""Decoders by name and settings, as in "frontier:candidates=20,short=true"."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from babywalk.common.config import from_assignments, from_table
from babywalk.common.errors import unknown
from babywalk.decoding.beam import Beam
from babywalk.decoding.best_first import Frontier, StateFactored
from babywalk.decoding.decoders import Decoder, Greedy, Sample
from babywalk.decoding.pragmatic import Pragmatic
from babywalk.decoding.search import Search

DECODERS: dict[str, type[Any]] = {
    "greedy": Greedy,
    "sample": Sample,
    "beam": Beam,
    "state-factored": StateFactored,
    "pragmatic": Pragmatic,
    "frontier": Frontier,
}


def decoder_of(spec: str) -> Decoder:
    """The decoder of a spec: a name, and after a colon its settings; others keep their defaults."""
    name, _, settings = spec.partition(":")
    if name not in DECODERS:
        raise unknown("Decoder", name, DECODERS)
    table = from_assignments(part.strip() for part in settings.split(",") if part.strip())
    decoder: Decoder = from_table(DECODERS[name], table, where=f"Decoder {name}")
    return decoder


def spec_of(decoder: Decoder) -> str:
    """The shortest spec of a decoder."""
    name = next(name for name, kind in DECODERS.items() if type(decoder) is kind)
    shared = {field.name for field in dataclasses.fields(Search)}
    # Its own settings first. mypy: all decoders are dataclasses.
    # All decoders are dataclasses, which the protocol cannot say.
    fields = sorted(dataclasses.fields(decoder), key=lambda field: field.name in shared)  # type: ignore[arg-type]
    values = {field.name: getattr(decoder, field.name) for field in fields}
    chosen = {field.name: values[field.name] for field in fields if values[field.name] != field.default}
    texts = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in chosen.items()
    ]
    return f"{name}:{','.join(texts)}" if texts else name
