"""A linear re-ranker of complete paths, as in FAST (Ke et al. 2019): its features, fitting, and its file.

The score of a path is the weighted sum of its standardised features. The weights maximise the probability
that the chosen path of an instruction succeeds, if paths are drawn from the softmax of their scores.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from babywalk.assets.records import Record
from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError, unknown
from babywalk.common.files import check_signed, read_json, signed, write_json
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search import estimated_progress, speaker_scores
from babywalk.decoding.search_tree import Candidates

RERANKER = "reranker.json"  # beside the model that it was fitted for
FEATURES = (
    "metres",
    "logit_sum",
    "logit_mean",
    "log_probability_sum",
    "log_probability_mean",
    "progress",
    "speaker_sum",
    "speaker_mean",
)
_ITERATIONS = 200
_SHRINKAGE = 1e-3  # weight of the squared weights in the loss


@dataclass(frozen=True, slots=True)
class LinearReranker:
    """Weights of standardised features, and what they were fitted on. Shapes: F features, Q candidates."""

    features: tuple[str, ...]  # F names
    means: tuple[float, ...]  # F
    deviations: tuple[float, ...]  # F
    weights: tuple[float, ...]  # F
    decoding: str  # the search that found the candidates
    task: str
    split: str
    instructions: int
    model: str  # SHA-256 of the model file

    def __post_init__(self) -> None:
        for name in self.features:
            if name not in FEATURES:
                raise unknown("features", name, FEATURES)
        for name in ("means", "deviations", "weights"):
            values = torch.tensor(getattr(self, name), device="cpu")
            if len(values) != len(self.features) or not values.isfinite().all():
                raise ConfigError(f"{name} should be {len(self.features)} finite numbers, one per feature.")
        if not all(deviation > 0 for deviation in self.deviations):
            raise ConfigError("deviations should be more than 0.")

    @property
    def needs_speaker(self) -> bool:
        """Whether paths are scored by a speaker."""
        return any(name.startswith("speaker") for name in self.features)

    def scores(self, candidates: Candidates, rollout: Rollout) -> Tensor:
        """(Q,) the weighted sum of the standardised features."""
        table = feature_table(candidates, rollout, self.features)
        means, deviations, weights = (
            torch.tensor(part, dtype=table.dtype, device=table.device)
            for part in (self.means, self.deviations, self.weights)
        )
        return (table - means) / deviations @ weights

    def save(self, file: Path) -> None:
        """Write the file, with a checksum."""
        write_json(file, signed(asdict(self)))


def read_reranker(file: Path) -> LinearReranker:
    """Read what `LinearReranker.save` wrote."""
    advice = f"Delete {file}, or fit it again with 'babywalk rerank'."
    fields = Record.of(file, "the re-ranker", read_json(file)).fields
    try:
        return from_table(LinearReranker, check_signed(file, fields, advice), where=str(file))
    except (ConfigError, TypeError) as error:  # wrong or missing fields
        raise DataError(f"{file}: is not a re-ranker. {advice}") from error


def feature_table(candidates: Candidates, rollout: Rollout, features: tuple[str, ...]) -> Tensor:
    """(Q, F) the features of candidates, in double precision."""
    speaker = None
    if any(name.startswith("speaker") for name in features):
        speaker = speaker_scores(candidates, rollout)
    columns = []
    for name in features:
        measure, _, kind = name.rpartition("_")
        if name == "metres":
            column = candidates.metres
        elif name == "progress":
            column = estimated_progress(candidates)
        elif speaker is not None and measure == "speaker":
            column = speaker[kind == "mean"]
        else:
            column = candidates.logit if measure == "logit" else candidates.log_probability
            column = column / candidates.decisions if kind == "mean" else column
        columns.append(column.double())
    return torch.stack(columns, dim=1)


def fit_weights(
    table: Tensor,  # (Q, F) features
    instruction: Tensor,  # (Q,) of each candidate
    success: Tensor,  # (Q,) True for those that end at the goal
) -> tuple[Tensor, Tensor, Tensor]:  # means, deviations, weights (F,)
    """Minimise - log of the sum over successful candidates of the softmax of an instruction's scores.

    Instructions of which no candidate succeeds, or all do, say nothing about the weights.
    """
    means, deviations = table.mean(dim=0), table.std(dim=0, correction=0)
    deviations = deviations.where(deviations > 0, 1.0)
    wins = torch.bincount(instruction, success.double())
    undecided = (wins > 0) & (wins < torch.bincount(instruction))
    kept = undecided[instruction]
    if not kept.any():
        raise ConfigError(
            "No instruction has both a path that succeeds and one that fails. Fit on more instructions, or "
            "with more candidates."
        )
    inputs, success = ((table - means) / deviations)[kept], success[kept]
    number, group = torch.unique(instruction[kept], return_inverse=True)

    def log_sums(scores: Tensor) -> Tensor:  # (I,) of exponents, by instruction
        high = scores.new_full((len(number),), -torch.inf).scatter_reduce(0, group, scores.detach(), "amax")
        return scores.new_zeros(len(number)).index_add(0, group, (scores - high[group]).exp()).log() + high

    def loss(weights: Tensor) -> Tensor:
        scores = inputs @ weights
        won = log_sums(scores.masked_fill(~success, -torch.inf))
        return (log_sums(scores) - won).mean() + _SHRINKAGE * weights.square().sum()

    weights = table.new_zeros(table.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=_ITERATIONS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = loss(weights)
        torch.autograd.backward(value)
        return value

    optimiser.step(closure)  # type: ignore[no-untyped-call]  # torch does not type it
    return means, deviations, weights.detach()
