"""Which implementation of the primitives a rollout uses: plain torch, or the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from babywalk.common.errors import unknown
from babywalk.modules.decoder import ActionScore
from babywalk.modules.kernels.action_score import FastActionScore
from babywalk.modules.kernels.deferred_gradients import FastLinear, FastLSTMCell, deferred_gradients
from babywalk.modules.kernels.dropout import FastDropout
from babywalk.modules.kernels.lazy_rows import ProductCache
from babywalk.modules.kernels.observation import KernelObservation
from babywalk.modules.kernels.packed_lstm import FastPackedLSTM
from babywalk.modules.kernels.text_batch import SharedTextBatch
from babywalk.modules.layers import Linear, LSTMCell, PackedLSTM
from babywalk.modules.observation import Observation
from babywalk.modules.text_encoder import EncodedText, TextBatch
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses

KERNELS = ("auto", "plain")
_FAST: dict[type[nn.Module], type[nn.Module]] = {
    Linear: FastLinear,
    LSTMCell: FastLSTMCell,
    PackedLSTM: FastPackedLSTM,
    ActionScore: FastActionScore,
    nn.Dropout: FastDropout,
}
_PLAIN = {fast: plain for plain, fast in _FAST.items()}


class Backend:
    """Plain torch, on any device."""

    def prepare(self, network: nn.Module) -> None:
        """Switch the layers of a network to this backend; parameters and their names stay the same."""
        _switch(network, _PLAIN)

    def observe(self, observer: Observer, poses: Poses, channels: Tensor | None = None) -> Observation:
        """What walkers see at their poses."""
        return Observation(observer, poses, channels)

    def texts(self, encoded: EncodedText, which: Tensor, copies: int = 1) -> TextBatch:
        """Some instructions (T,), each read by `copies` walkers in a row."""
        return TextBatch.of(encoded, which, copies)

    @property
    def caches_products(self) -> bool:
        """Whether observations use a product cache now."""
        return False

    @contextmanager
    def rollout(self, network: nn.Module) -> Iterator[None]:  # noqa: ARG002
        """Surrounds one rollout."""
        yield

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Surrounds rollouts without gradients between which the weights do not change."""
        with torch.inference_mode():
            yield


class KernelBackend(Backend):
    """The kernels of this package."""

    def __init__(self) -> None:
        self._cache: ProductCache | None = None

    def prepare(self, network: nn.Module) -> None:
        """Switch the layers of a network to the kernels; parameters and their names stay the same."""
        _switch(network, _FAST)

    def observe(self, observer: Observer, poses: Poses, channels: Tensor | None = None) -> Observation:
        """What walkers see at their poses."""
        return KernelObservation(observer, poses, channels, self._cache)

    def texts(  # type: ignore[override]  # the same interface as TextBatch
        self, encoded: EncodedText, which: Tensor, copies: int = 1
    ) -> SharedTextBatch:
        """Some instructions (T,), each read by `copies` walkers in a row."""
        return SharedTextBatch.of(encoded, which, copies)

    @property
    def caches_products(self) -> bool:
        """Whether observations use a product cache now."""
        return self._cache is not None

    @contextmanager
    def rollout(self, network: nn.Module) -> Iterator[None]:
        """Defers weight gradients; without gradients and dropout, products are cached for the rollout."""
        learns = network.training or torch.is_grad_enabled()
        kept = self._cache
        self._cache = None if learns else kept or ProductCache()
        try:
            with deferred_gradients(network):
                yield
        finally:
            self._cache = kept

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Products are cached for all rollouts inside."""
        self._cache = ProductCache()
        try:
            with super().inference():
                yield
        finally:
            self._cache = None


def choose_backend(kernels: str, device: torch.device) -> Backend:
    """The kernels on a CPU, unless `plain` is asked for."""
    if kernels not in KERNELS:
        raise unknown("kernels", kernels, KERNELS)
    return KernelBackend() if kernels == "auto" and device.type == "cpu" else Backend()


def _switch(network: nn.Module, classes: dict[type[nn.Module], type[nn.Module]]) -> None:
    """Change the class of layers in place: plain and fast layers have the same parameters and attributes."""
    for layer in network.modules():
        layer.__class__ = classes.get(type(layer), type(layer))
