"""Presets: settings of network and training that fit together."""

from __future__ import annotations

from typing import Any

from babywalk.common.config import merged

# Of imitation, on human and on augmented data.
_SMALL_IMITATION = {
    "iterations": 1500,
    "batch": 64,
    "learning_rate": 1e-3,
    "weight_decay": 1e-5,
    "teacher_share": 0.5,
    "warm_up": 50,
    "decay_from": 0.4,
}
_TINY_IMITATION = {"iterations": 30, "batch": 16, "learning_rate": 3e-3, "weight_decay": 0.0}

# paper: the published settings; small: for the CPU of a laptop; tiny: for tests. Two more are below.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "policy": {"context": "mlp", "details": "release", "action": 512},
        "augmented": {"clip_apart": True},
        "imitation": {"clip_apart": True},
        "reinforce": {"baseline": "cumulative", "clip_apart": True},
    },
    "small": {
        "policy": {"hidden": 192, "action": 128, "words": 96, "dropout": 0.3, "feature_dropout": 0.2},
        "augmented": _SMALL_IMITATION,
        "imitation": _SMALL_IMITATION,
        "reinforce": {
            "iterations": 100,
            "batches": [16, 16, 16, 16],
            "learning_rate": 1e-4,
            "weight_decay": 1e-5,
            "baseline": "instruction",
            "imitation": 0.1,
        },
        "averaging": 0.995,
        "validate_every": 100,
        "validate_on": "val_seen:900",  # with fewer, the gain of a lecture is within the noise
        "checkpoint_every": 100,
    },
    "tiny": {
        "policy": {"hidden": 32, "action": 16, "words": 16, "dropout": 0.0},
        "augmented": _TINY_IMITATION,
        "imitation": _TINY_IMITATION,
        "reinforce": {"lectures": 2, "iterations": 6, "batches": [4, 4], "samples": 2, "learning_rate": 1e-3},
        "validate_every": 10,
        "validate_on": "val_seen:20",
        "checkpoint_every": 5,
    },
}
# For the demo: small, with shorter lectures.
PRESETS["demo"] = merged(
    PRESETS["small"],
    {
        "reinforce": {"iterations": 40},
        "validate_every": 200,
        "validate_on": "val_seen:150",
    },
)
# For object features: their values are small compared with the orientation, hence a gain; they have names,
# hence the lexical match. Without room labels, which do not exist for unseen houses.
PRESETS["objects"] = merged(
    PRESETS["small"],
    {
        "features": "objects:names,groups,distant,openness",
        "policy": {"feature_gain": 10.0, "lexical_match": 64},
        "augmented": {"batch": 100, "decay_from": 0.3},
        "imitation": {"batch": 100, "decay_from": 0.3},
        "reinforce": {
            "iterations": 120,
            "batches": [24, 16, 12, 12],
            "learning_rate": 5e-5,
            "temperature": 0.4,
            "imitation": 0.3,
        },
        "averaging": 0.998,
        "validate_on": "val_seen",
        "validate_every": 250,
        "threads": 1,
    },
)
