"""Alignment: where on the path each Baby-Step ends."""
