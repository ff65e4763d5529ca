"""Importing this module fails with a sentence where torch is not installed."""

from __future__ import annotations

from babywalk.common.errors import ConfigError

try:
    import torch  # noqa: F401
except ImportError:
    raise ConfigError(
        "Agents that learn need torch. Install it with: pip install 'babywalk[agents]'."
    ) from None
