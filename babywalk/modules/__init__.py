"""Parts of networks, in plain torch on any device; `kernels/` has faster CPU versions of some."""
