"""Import this before torch: it raises a `ConfigError` if torch is not installed."""

from __future__ import annotations

from babywalk.common.errors import ConfigError

try:
    import torch  # noqa: F401
except ImportError:
    raise ConfigError("Learned agents need torch. Install it with: pip install 'babywalk[agents]'.") from None
