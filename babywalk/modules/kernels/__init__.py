"""Faster CPU versions of a few primitives: the same parameters, the same results up to rounding.

The network in `modules/` is complete without them. `Backend.choose` picks one of two backends, and
`prepare` switches the layers of a network to it:

    PackedLSTM   -> FastPackedLSTM     one product for all inputs, a hand-written gradient
    Linear,
    LSTMCell     -> FastLinear, ...    weight gradients computed once per backward pass
    ActionScore  -> FastActionScore    candidates are not embedded one by one
    nn.Dropout   -> FastDropout        cheaper masks; the random draws differ
    Observation  -> KernelObservation  panoramas are read once per viewpoint, products are cached in inference
    TextBatch    -> SharedTextBatch    words are not copied for each walker
"""

from babywalk.modules.kernels.backend import KERNELS, Backend, choose_backend

__all__ = ["KERNELS", "Backend", "choose_backend"]
